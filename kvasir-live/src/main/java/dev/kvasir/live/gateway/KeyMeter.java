package dev.kvasir.live.gateway;

import dev.kvasir.Nullable;
import dev.kvasir.live.http.ApiError;
import dev.kvasir.live.http.Caller;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/** How much has been asked with each key; belongs to one loop. */
final class KeyMeter {
  private static final double NANOS_PER_MINUTE = 60e9;
  private static final Duration SOON = Duration.ofSeconds(1);

  private static final class Use {
    int concurrent;
    double allowance;
    long filledNanos;
  }

  private final Map<String, Use> uses = new HashMap<>();

  /** Counts a request; says why not where it is one too many, and counts nothing then. */
  @Nullable
  ApiError enter(Caller caller, long nowNanos) {
    var limits = caller.limits();
    var use = uses.computeIfAbsent(caller.key(), _ -> fresh(limits.requestsPerMinute(), nowNanos));
    double perNano = limits.requestsPerMinute() / NANOS_PER_MINUTE;
    double gained = (nowNanos - use.filledNanos) * perNano;
    use.allowance = Math.min(limits.requestsPerMinute(), use.allowance + gained);
    use.filledNanos = nowNanos;
    if (use.concurrent >= limits.concurrentMax()) {
      return ApiError.tooMany(
          "too_many_concurrent",
          "at most " + limits.concurrentMax() + " requests at a time with this key",
          SOON);
    }
    if (use.allowance < 1) {
      return ApiError.tooMany(
          "rate_limited",
          "at most " + limits.requestsPerMinute() + " requests a minute with this key",
          Duration.ofNanos((long) ((1 - use.allowance) / perNano)));
    }
    use.allowance--;
    use.concurrent++;
    return null;
  }

  void leave(Caller caller) {
    var use = uses.get(caller.key());
    if (use == null || use.concurrent == 0) {
      throw new IllegalStateException("a request of " + caller.tenant() + " left twice");
    }
    use.concurrent--;
  }

  private static Use fresh(int allowance, long nowNanos) {
    var use = new Use();
    use.allowance = allowance;
    use.filledNanos = nowNanos;
    return use;
  }
}
