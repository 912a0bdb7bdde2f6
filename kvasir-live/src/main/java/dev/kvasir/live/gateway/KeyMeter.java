package dev.kvasir.live.gateway;

import dev.kvasir.Nullable;
import dev.kvasir.live.http.ApiError;
import dev.kvasir.live.http.Caller;
import dev.kvasir.live.http.KeyLimits;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * How much has been asked with each key; from any thread.
 *
 * <p>A request is counted before anything is done for it, and its tokens once they are known.
 */
final class KeyMeter {
  private static final Duration SOON = Duration.ofSeconds(1);

  private static final class Use {
    final Allowance requests;
    final Allowance tokens;
    int concurrent;

    Use(KeyLimits limits, long nowNanos) {
      requests = new Allowance(limits.requestsPerMinute(), nowNanos);
      tokens = new Allowance(limits.tokensPerMinute(), nowNanos);
    }
  }

  private final Map<String, Use> uses = new HashMap<>();

  /** Counts a request; says why not where it is one too many, and counts nothing then. */
  @Nullable
  synchronized ApiError begin(Caller caller, long nowNanos) {
    var limits = caller.limits();
    var use = uses.computeIfAbsent(caller.key(), _ -> new Use(limits, nowNanos));
    use.requests.fill(limits.requestsPerMinute(), nowNanos);
    if (use.concurrent >= limits.concurrentMax()) {
      return ApiError.tooMany(
          "too_many_concurrent",
          "at most " + limits.concurrentMax() + " requests at a time with this key",
          SOON);
    }
    var refusal = refusal(use.requests, 1, limits.requestsPerMinute() + " requests");
    if (refusal != null) return refusal;
    use.requests.take(1);
    use.concurrent++;
    return null;
  }

  /** The request that was begun is over. */
  synchronized void end(Caller caller) {
    var use = use(caller);
    if (use.concurrent == 0) {
      throw new IllegalStateException("a request of " + caller.tenant() + " ended twice");
    }
    use.concurrent--;
  }

  /** Requests that were begun and are not over. */
  synchronized int concurrent() {
    int sum = 0;
    for (var use : uses.values()) sum += use.concurrent;
    return sum;
  }

  /**
   * Counts the tokens of a request that was begun; says why not where they are too many, and gives
   * the request back then.
   *
   * @param promptTokens as far as they are known before anybody has answered
   */
  @Nullable
  synchronized ApiError enter(Caller caller, int promptTokens, long nowNanos) {
    var limits = caller.limits();
    var use = use(caller);
    use.tokens.fill(limits.tokensPerMinute(), nowNanos);
    var refusal = refusal(use.tokens, promptTokens, limits.tokensPerMinute() + " tokens");
    if (refusal == null) use.tokens.take(promptTokens);
    else use.requests.take(-1);
    return refusal;
  }

  private static @Nullable ApiError refusal(Allowance allowance, int wanted, String limit) {
    var wait = allowance.until(wanted);
    if (wait.isZero()) return null;
    return ApiError.tooMany("rate_limited", "at most " + limit + " a minute with this key", wait);
  }

  /**
   * The tokens of the request are known.
   *
   * @param promptTokens as they were counted when it entered
   * @param tokens what it came to, prompt and answer together
   */
  synchronized void leave(Caller caller, int promptTokens, long tokens) {
    use(caller).tokens.take((double) (tokens - promptTokens));
  }

  private Use use(Caller caller) {
    var use = uses.get(caller.key());
    if (use == null) throw new IllegalStateException(caller.tenant() + " has begun no request");
    return use;
  }
}
