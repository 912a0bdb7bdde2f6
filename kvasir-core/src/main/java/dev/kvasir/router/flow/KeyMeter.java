package dev.kvasir.router.flow;

import dev.kvasir.Nullable;
import dev.kvasir.router.flow.Refusal.Kind;
import java.time.Duration;
import java.util.HashMap;

/**
 * How much has been asked with each key; belongs to the loop of the flow.
 *
 * <p>A request is counted when it arrives, and its tokens once they are known.
 */
final class KeyMeter {
  private static final Duration SOON = Duration.ofSeconds(1);

  private static final class Use {
    final TokenBucket requests;
    final TokenBucket tokens;
    int concurrent;

    Use(KeyLimits limits, long nowNanos) {
      requests = TokenBucket.perMinute(limits.requestsPerMinute(), nowNanos);
      tokens = TokenBucket.perMinute(limits.tokensPerMinute(), nowNanos);
    }
  }

  private final HashMap<String, Use> uses = new HashMap<>();
  private int concurrent;

  /** Counts a request; says why not where it is one too many, and counts nothing then. */
  @Nullable
  Refusal begin(FlowCaller caller, long nowNanos) {
    var limits = caller.limits();
    var use = uses.computeIfAbsent(caller.key(), _ -> new Use(limits, nowNanos));
    if (use.concurrent >= limits.concurrentMax()) {
      return new Refusal(
          Kind.TOO_MANY_CONCURRENT,
          "at most " + limits.concurrentMax() + " requests at a time with this key",
          SOON);
    }
    use.requests.resize(limits.requestsPerMinute());
    var refusal = refusal(use.requests, 1, nowNanos, limits.requestsPerMinute(), "requests");
    if (refusal != null) return refusal;
    use.requests.take(1);
    use.concurrent++;
    concurrent++;
    return null;
  }

  /** The request that was begun is over. */
  void end(FlowCaller caller) {
    var use = use(caller);
    if (use.concurrent == 0) {
      throw new IllegalStateException("a request of " + caller.identity() + " ended twice");
    }
    use.concurrent--;
    concurrent--;
  }

  /** Requests that were begun and are not over. */
  int concurrent() {
    return concurrent;
  }

  /**
   * Counts the tokens of a request that was begun; says why not where they are too many, and gives
   * the request back then.
   *
   * @param promptTokens as far as they are known before anybody has answered
   */
  @Nullable
  Refusal enter(FlowCaller caller, int promptTokens, long nowNanos) {
    var limits = caller.limits();
    var use = use(caller);
    use.tokens.resize(limits.tokensPerMinute());
    var refusal = refusal(use.tokens, promptTokens, nowNanos, limits.tokensPerMinute(), "tokens");
    if (refusal == null) use.tokens.take(promptTokens);
    else use.requests.take(-1);
    return refusal;
  }

  private static @Nullable Refusal refusal(
      TokenBucket bucket, int wanted, long nowNanos, int perMinute, String unit) {
    bucket.fill(nowNanos);
    // Without a limit nothing is too much, whatever a worker says that it computed.
    if (perMinute == Integer.MAX_VALUE) return null;
    var wait = bucket.until(wanted);
    if (wait.isZero()) return null;
    var limit = "at most " + perMinute + " " + unit + " a minute with this key";
    return new Refusal(Kind.RATE_LIMITED, limit, wait);
  }

  /**
   * The tokens of the request are known.
   *
   * @param promptTokens as they were counted when it entered
   * @param tokens what it came to, prompt and answer together
   */
  void leave(FlowCaller caller, int promptTokens, long tokens) {
    use(caller).tokens.take((double) (tokens - promptTokens));
  }

  private Use use(FlowCaller caller) {
    var use = uses.get(caller.key());
    if (use == null) throw new IllegalStateException(caller.identity() + " began no request");
    return use;
  }
}
