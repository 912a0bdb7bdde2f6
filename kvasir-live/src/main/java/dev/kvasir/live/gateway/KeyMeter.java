package dev.kvasir.live.gateway;

import dev.kvasir.Nullable;
import dev.kvasir.live.http.ApiError;
import dev.kvasir.live.http.Caller;
import dev.kvasir.live.http.KeyLimits;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/** How much has been asked with each key; belongs to one loop. */
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

  /**
   * Counts a request; says why not where it is one too many, and counts nothing then.
   *
   * @param promptTokens as far as they are known before anybody has answered
   */
  @Nullable
  ApiError enter(Caller caller, int promptTokens, long nowNanos) {
    var limits = caller.limits();
    var use = uses.computeIfAbsent(caller.key(), _ -> new Use(limits, nowNanos));
    use.requests.fill(limits.requestsPerMinute(), nowNanos);
    use.tokens.fill(limits.tokensPerMinute(), nowNanos);
    if (use.concurrent >= limits.concurrentMax()) {
      return ApiError.tooMany(
          "too_many_concurrent",
          "at most " + limits.concurrentMax() + " requests at a time with this key",
          SOON);
    }
    var refusal = refusal(use.requests, 1, limits.requestsPerMinute() + " requests");
    if (refusal == null) {
      refusal = refusal(use.tokens, promptTokens, limits.tokensPerMinute() + " tokens");
    }
    if (refusal != null) return refusal;
    use.requests.take(1);
    use.tokens.take(promptTokens);
    use.concurrent++;
    return null;
  }

  private static @Nullable ApiError refusal(Allowance allowance, int wanted, String limit) {
    var wait = allowance.until(wanted);
    if (wait.isZero()) return null;
    return ApiError.tooMany("rate_limited", "at most " + limit + " a minute with this key", wait);
  }

  /**
   * The request is over.
   *
   * @param promptTokens as they were counted when it entered
   * @param tokens what it came to, prompt and answer together
   */
  void leave(Caller caller, int promptTokens, long tokens) {
    var use = uses.get(caller.key());
    if (use == null || use.concurrent == 0) {
      throw new IllegalStateException("a request of " + caller.tenant() + " left twice");
    }
    use.concurrent--;
    use.tokens.take((double) (tokens - promptTokens));
  }
}
