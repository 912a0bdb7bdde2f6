package dev.kvasir.gateway.request;

import dev.kvasir.Nullable;
import dev.kvasir.gateway.journal.Ending;
import dev.kvasir.gateway.journal.Outcome;
import dev.kvasir.net.openai.EventSplitter;
import dev.kvasir.net.openai.Usage;
import dev.kvasir.router.flow.LegFailure;
import dev.kvasir.router.flow.RequestEnd.Verdict;
import io.vertx.core.buffer.Buffer;
import java.util.Locale;

/**
 * Counts the tokens of an answer that somebody else brings to the caller.
 *
 * <p>It sees the same as a gateway that proxies the answer does: events, the account of tokens,
 * errors in the stream, and whether it came to its end.
 */
public final class AnswerMeter {
  private static final int TOKEN_BYTES = 4;

  private final int status;
  private final boolean stream;
  private final EventSplitter events = new EventSplitter();
  private final UsageScanner usage = new UsageScanner();
  private long reported;
  private long bytes;

  /**
   * Counts an answer from its head on.
   *
   * @param type its content type; null where it has none
   */
  public AnswerMeter(int status, @Nullable String type) {
    this.status = status;
    this.stream = type != null && type.toLowerCase(Locale.ROOT).startsWith("text/event-stream");
  }

  /** Returns whether the answer comes event by event, so that its first token can be seen. */
  public boolean isStream() {
    return stream;
  }

  /** Takes a piece of the answer; says how many events it completes, errors not counted. */
  public int feed(Buffer chunk) {
    if (!stream) {
      bytes += chunk.length();
      usage.feed(chunk);
      return 0;
    }
    events.feed(chunk);
    int fresh = (int) (events.events() - reported);
    reported = events.events();
    return fresh;
  }

  /** The answer as it ended; {@link Outcome#BROKEN} where its last piece lacks something. */
  public Ending ended() {
    if (stream && events.hasError()) return ending(Outcome.BROKEN, "upstream_error");
    if (stream && !events.isDone()) return ending(Outcome.BROKEN, "upstream_failed");
    return ending(Outcome.COMPLETE, "");
  }

  /** The answer as far as it came, of a caller who left; one who had all of it did not leave. */
  public Ending left() {
    boolean hasAll = stream && (events.isDone() || events.hasError());
    return hasAll ? ended() : ending(Outcome.GONE, "");
  }

  /** Returns what an answer that ended so says of its worker. */
  public Verdict verdict(Ending ending) {
    var failure = AnswerStatus.failure(status);
    if (failure != null && failure.isWorkersFault()) return Verdict.BROKEN;
    if (failure == LegFailure.BUSY || ending.outcome() == Outcome.GONE) return Verdict.NONE;
    if (ending.outcome() == Outcome.COMPLETE) return Verdict.ANSWERED;
    var error = events.error();
    return error == null || StreamError.of(error).isWorkersFault() ? Verdict.BROKEN : Verdict.NONE;
  }

  private Ending ending(Outcome outcome, String code) {
    var account = account();
    long counted = account.isUnknown() && status == 200 ? bytes / TOKEN_BYTES : 0;
    return new Ending(outcome, status, code, account, stream ? events.events() : counted);
  }

  private Usage account() {
    if (stream) return Usage.of(events.usage());
    return status == 200 ? usage.usage() : Usage.UNKNOWN;
  }
}
