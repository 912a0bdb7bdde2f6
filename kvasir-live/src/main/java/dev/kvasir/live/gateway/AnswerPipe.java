package dev.kvasir.live.gateway;

import dev.kvasir.Nullable;
import dev.kvasir.live.http.ApiError;
import dev.kvasir.live.http.Exchange;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/**
 * Brings the answer of a worker to the caller, byte for byte.
 *
 * <p>Nothing goes out before the first event of a stream is whole, or all of an answer that is not
 * a stream, unless that is large: until then another worker can be asked. Bytes that come within
 * one turn of the loop go out together; a caller who reads slowly slows the worker down.
 */
final class AnswerPipe {
  /** Hears how far the answer is. */
  interface Listener {
    /** It is about to go out; adds to its head what is to be added. */
    void begins();

    /** A stream begins with an event that tells of an error; nothing has gone out. */
    void beginsWithError();

    void emitted(int events);

    /** It cannot be finished; nothing has gone out. */
    void failed(Failure failure, String why);

    /** The last of it is about to go out. */
    void ends(Ending ending);
  }

  private static final int HELD_BYTES_MAX = 1 << 20;
  private static final List<String> HOP_BY_HOP =
      List.of(
          "connection",
          "content-length",
          "keep-alive",
          "proxy-authenticate",
          "proxy-connection",
          "set-cookie",
          "te",
          "trailer",
          "transfer-encoding",
          "upgrade");

  private final Exchange exchange;
  private final HttpClientResponse upstream;
  private final Listener listener;
  private final boolean stream;
  private final EventSplitter events = new EventSplitter();
  private Buffer held = Buffer.buffer();
  private boolean begun;
  private boolean over;
  private boolean spent;
  private boolean flushing;
  private boolean paused;
  private long told;
  private long heardNanos = System.nanoTime();
  private long timer = -1;

  AnswerPipe(Exchange exchange, HttpClientResponse upstream, Listener listener) {
    this.exchange = exchange;
    this.upstream = upstream;
    this.listener = listener;
    this.stream = isStream(upstream);
  }

  static boolean isStream(HttpClientResponse answer) {
    var type = answer.getHeader(HttpHeaders.CONTENT_TYPE);
    return type != null && type.toLowerCase(Locale.ROOT).startsWith("text/event-stream");
  }

  int status() {
    return upstream.statusCode();
  }

  /** Whether the worker has sent all of its answer, and its connection is free for another. */
  boolean isSpent() {
    return spent;
  }

  /** Reads the answer; after this long without a byte it has failed. */
  void start(Duration silence) {
    upstream.handler(this::heard);
    upstream.endHandler(_ -> ended());
    upstream.exceptionHandler(_ -> broke(Failure.CUT, "the worker broke off"));
    long pace = Math.max(5, silence.toMillis() / 4);
    timer = exchange.context().owner().setPeriodic(pace, _ -> watch(silence));
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

  private void heard(Buffer chunk) {
    if (over) return;
    heardNanos = System.nanoTime();
    if (!stream) {
      hold(chunk);
      if (begun) schedule();
      else if (held.length() > HELD_BYTES_MAX) pass();
      return;
    }
    var whole = events.feed(chunk);
    if (whole.length() == 0) return;
    hold(whole);
    if (begun) {
      tell();
      schedule();
    } else if (events.beginsWithError()) {
      listener.beginsWithError();
    } else if (events.events() > 0 || events.isDone()) {
      begin();
      tell();
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
    var response = exchange.response().setStatusCode(upstream.statusCode());
    var named = upstream.headers().getAll(HttpHeaders.CONNECTION);
    for (var header : upstream.headers()) {
      var name = header.getKey().toLowerCase(Locale.ROOT);
      if (!HOP_BY_HOP.contains(name) && !named.contains(name)) {
        response.putHeader(name, header.getValue());
      }
    }
    if (stream) response.putHeader("x-accel-buffering", "no");
  }

  private void tell() {
    int fresh = (int) (events.events() - told);
    told = events.events();
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
    if (response.writeQueueFull() && !paused) {
      paused = true;
      upstream.pause();
      response.drainHandler(_ -> drained());
    }
  }

  private void drained() {
    paused = false;
    heardNanos = System.nanoTime();
    if (!over) upstream.resume();
  }

  private void ended() {
    spent = true;
    if (over) return;
    if (stream && !events.isDone() && !events.hasError()) {
      broke(Failure.CUT, "the worker ended the stream too soon");
      return;
    }
    var last = stream ? events.usage() : usageOf(held);
    finish(ending(Outcome.COMPLETE, "", Usage.of(last)));
  }

  private byte @Nullable [] usageOf(Buffer body) {
    return begun || upstream.statusCode() != 200 ? null : body.getBytes();
  }

  private void watch(Duration silence) {
    if (paused || System.nanoTime() - heardNanos < silence.toNanos()) return;
    broke(Failure.STALLED, "the worker fell silent");
  }

  private void broke(Failure failure, String why) {
    if (over) return;
    if (stream && events.isDone()) {
      finish(ending(Outcome.COMPLETE, "", Usage.of(events.usage())));
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
      listener.ends(ending(Outcome.BROKEN, error.code(), Usage.UNKNOWN));
      discard();
      exchange.reset();
      return;
    }
    var event = "data: " + error.json() + "\n\n";
    held.appendBytes(event.getBytes(StandardCharsets.UTF_8));
    finish(ending(Outcome.BROKEN, error.code(), Usage.of(events.usage())));
  }

  private Ending ending(Outcome outcome, String code, Usage usage) {
    return new Ending(outcome, upstream.statusCode(), code, usage, events.events());
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
