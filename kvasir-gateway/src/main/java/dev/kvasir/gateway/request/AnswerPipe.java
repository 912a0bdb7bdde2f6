package dev.kvasir.gateway.request;

import dev.kvasir.gateway.journal.Ending;
import dev.kvasir.gateway.journal.Outcome;
import dev.kvasir.gateway.worker.WorkerAnswer;
import dev.kvasir.net.ApiError;
import dev.kvasir.net.openai.EventSplitter;
import dev.kvasir.net.openai.Usage;
import dev.kvasir.net.server.Exchange;
import dev.kvasir.router.flow.LegFailure;
import dev.kvasir.router.flow.RequestEnd.Verdict;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * Brings the answer of a worker to the caller, byte for byte.
 *
 * <p>Nothing goes out before the first event of a stream is whole, or all of an answer that is not
 * a stream, unless that would be too much to hold: until then another worker can be asked. Bytes
 * that come within one turn of the loop go out together; a caller who reads slowly slows the worker
 * down.
 */
final class AnswerPipe implements WorkerAnswer.Reader {
  /** Hears how far the answer is. */
  interface Listener {
    /** It is about to go out; adds to its head what is to be added. */
    void begins();

    /** A stream begins with an event that tells of an error; nothing has gone out. */
    void beginsWithError();

    /** So many events more have come, none of them an error; the first is the first token. */
    void emitted(int events);

    /** It cannot be finished; nothing has gone out. */
    void failed(LegFailure failure, String why);

    /** The last of it is about to go out. */
    void ends(Ending ending);
  }

  private static final int HELD_BYTES_MAX = 1 << 20;

  /** Assumed length of a token, for an answer that tells nothing of its tokens. */
  private static final int TOKEN_BYTES = 4;

  private static final CharSequence NO_BUFFERS = HttpHeaders.createOptimized("x-accel-buffering");
  private static final CharSequence NO = HttpHeaders.createOptimized("no");

  private final Exchange exchange;
  private final WorkerAnswer upstream;
  private final Listener listener;
  private final boolean stream;
  private final EventSplitter events = new EventSplitter();
  private Buffer held = Buffer.buffer();
  private boolean begun;
  private boolean over;
  private boolean spent;
  private boolean flushing;
  private boolean paused;
  private boolean endRelayed;
  private long reported;
  private long passedBytes;
  private final UsageScanner passed = new UsageScanner();
  private final long startNanos = System.nanoTime();
  private long receivedNanos = startNanos;
  private long timer = -1;

  AnswerPipe(Exchange exchange, WorkerAnswer upstream, Listener listener) {
    this.exchange = exchange;
    this.upstream = upstream;
    this.listener = listener;
    this.stream = upstream.isStream();
  }

  /** From a whole answer, which may be a stream. */
  static Usage usage(WorkerAnswer answer, Buffer body) {
    if (!answer.isStream()) return Usage.of(body.getBytes());
    var events = new EventSplitter();
    events.feed(body);
    return Usage.of(events.usage());
  }

  /**
   * Returns whether the worker has sent all of its answer, and its connection is free for another.
   */
  boolean isSpent() {
    return spent;
  }

  /** Returns whether the answer goes out, or is about to. */
  boolean hasBegun() {
    return begun;
  }

  /**
   * Reads the answer.
   *
   * @param first until it can begin to go out; a stream's head comes before its prefill
   * @param silence without a byte after that
   */
  void start(Duration first, Duration silence) {
    upstream.read(this);
    long pace = Math.max(5, Math.min(first.toMillis(), silence.toMillis()) / 4);
    timer = exchange.context().owner().setPeriodic(pace, _ -> watch(first, silence));
  }

  /** Forgets the answer; nothing of it goes out any more. */
  void discard() {
    over = true;
    exchange.context().owner().cancelTimer(timer);
    held = Buffer.buffer();
  }

  /** Lets out what has been held back, although it begins with an error. */
  void pass() {
    begin();
    flush();
  }

  @Override
  public void came(Buffer part) {
    if (over) return;
    receivedNanos = System.nanoTime();
    var whole = stream ? events.feed(part) : part;
    if (whole.length() == 0) return;
    hold(whole);
    if (begun) {
      reportEmitted();
      schedule();
    } else if (events.beginsWithError()) {
      listener.beginsWithError();
    } else if (events.events() > 0 || events.isDone() || held.length() > HELD_BYTES_MAX) {
      begin();
      reportEmitted();
      schedule();
    }
  }

  private void hold(Buffer more) {
    held = held.length() == 0 ? more : held.appendBuffer(more);
  }

  private void begin() {
    if (begun || over) return;
    begun = true;
    listener.begins();
    var response = exchange.response().setStatusCode(upstream.status());
    AnswerHeaders.handOn(upstream.headers(), response);
    if (stream) response.putHeader(NO_BUFFERS, NO);
  }

  private void reportEmitted() {
    int fresh = (int) (events.events() - reported);
    reported = events.events();
    if (fresh > 0) listener.emitted(fresh);
  }

  private void schedule() {
    if (flushing) return;
    flushing = true;
    exchange.context().runOnContext(_ -> flush());
  }

  private void flush() {
    flushing = false;
    if (over || exchange.isOver() || held.length() == 0) return;
    var out = held;
    held = Buffer.buffer();
    var response = exchange.response();
    if (!response.headWritten()) response.setChunked(true);
    response.write(out);
    endRelayed = events.isDone() || events.hasError();
    if (!stream) account(out);
    if (response.writeQueueFull() && !paused) {
      paused = true;
      upstream.pause();
      response.drainHandler(_ -> drained());
    }
  }

  /** Remembers what an answer that is not held as a whole says of its tokens. */
  private void account(Buffer out) {
    passedBytes += out.length();
    passed.feed(out);
  }

  private void drained() {
    paused = false;
    receivedNanos = System.nanoTime();
    if (!over) upstream.resume();
  }

  @Override
  public void ended() {
    spent = true;
    if (over) return;
    if (stream && !events.isDone() && !events.hasError()) {
      broke(LegFailure.CUT, "the worker ended the stream too soon");
      return;
    }
    if (!stream && begun) account(held);
    finish(conclusion());
  }

  private Ending conclusion() {
    if (events.hasError()) return ending(Outcome.BROKEN, "upstream_error");
    return ending(Outcome.COMPLETE, "");
  }

  /** Returns what is to be written down if the caller leaves now: it may have all it waited for. */
  Ending left() {
    return endRelayed ? conclusion() : ending(Outcome.GONE, "");
  }

  /** Returns what an answer that ended so says of its worker. */
  Verdict verdict(Ending ending) {
    if (ending.outcome() == Outcome.COMPLETE) return Verdict.ANSWERED;
    if (ending.outcome() != Outcome.BROKEN) return Verdict.NONE;
    var error = events.error();
    return error == null || StreamError.of(error).isWorkersFault() ? Verdict.BROKEN : Verdict.NONE;
  }

  private Usage usage() {
    if (stream) return Usage.of(events.usage());
    if (upstream.status() != 200) return Usage.UNKNOWN;
    return passedBytes == 0 ? Usage.of(held.getBytes()) : passed.usage();
  }

  private void watch(Duration first, Duration silence) {
    if (paused) return;
    long now = System.nanoTime();
    if (!begun && now - startNanos >= first.toNanos()) {
      broke(LegFailure.STALLED, "the worker did not begin its answer in " + first);
    } else if ((begun || !stream) && now - receivedNanos >= silence.toNanos()) {
      broke(LegFailure.STALLED, "the worker fell silent");
    }
  }

  @Override
  public void broke(String why) {
    broke(LegFailure.CUT, "the worker broke off");
  }

  private void broke(LegFailure failure, String why) {
    if (over) return;
    if (stream && events.isDone()) {
      finish(conclusion());
    } else if (!begun) {
      discard();
      listener.failed(failure, why);
    } else {
      breakOff(why);
    }
  }

  /** The caller has a part of the answer: it is told, or sees the connection break. */
  private void breakOff(String why) {
    var error = ApiError.badUpstream(why);
    if (!stream || events.isTorn()) {
      listener.ends(ending(Outcome.BROKEN, error.code()));
      discard();
      exchange.reset();
      return;
    }
    var event =
        events.isNamed()
            ? "event: error\ndata: {\"type\":\"error\"," + error.json().substring(1) + "\n\n"
            : "data: " + error.json() + "\n\n";
    held.appendBytes(event.getBytes(StandardCharsets.UTF_8));
    finish(ending(Outcome.BROKEN, error.code()));
  }

  private Ending ending(Outcome outcome, String code) {
    var usage = usage();
    long counted = usage.isUnknown() ? passedBytes / TOKEN_BYTES : 0;
    int status = outcome == Outcome.GONE && !begun ? 0 : upstream.status();
    return new Ending(outcome, status, code, usage, stream ? events.events() : counted);
  }

  private void finish(Ending ending) {
    begin();
    if (over) return;
    var last = held;
    discard();
    listener.ends(ending);
    if (!exchange.isOver()) exchange.response().end(last);
  }
}
