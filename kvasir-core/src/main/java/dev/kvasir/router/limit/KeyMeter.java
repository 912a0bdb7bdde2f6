package dev.kvasir.router.limit;

import dev.kvasir.Nullable;
import dev.kvasir.router.limit.Refusal.Kind;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Measures the use of each key against its limits. Belongs to the loop of the flow.
 *
 * <p>A request is counted when it arrives, and its tokens once they are known.
 *
 * <p>If several gateways share the limits, the use at the others is taken from the same buckets, a
 * little late: what was granted twice is a debt, so no key exceeds its rate for long. A gateway
 * that is alone grants a part of each limit, from separate buckets. The use still counts in the
 * shared buckets, so that they are right when the others are heard again.
 */
public final class KeyMeter {
  private static final Duration SOON = Duration.ofSeconds(1);

  private static final class Use {
    final String key;
    final TokenBucket requests;
    final TokenBucket tokens;
    KeyLimits limits;

    /** This gateway's part; null where the buckets are for it alone or for all together. */
    @Nullable TokenBucket requestsPart;

    @Nullable TokenBucket tokensPart;
    int concurrent;
    int concurrentElsewhere;
    long requestsTaken;
    long tokensTaken;

    Use(String key, KeyLimits limits, long nowNanos) {
      this.key = key;
      this.limits = limits;
      requests = TokenBucket.perMinute(limits.requestsPerMinute(), nowNanos);
      tokens = TokenBucket.perMinute(limits.tokensPerMinute(), nowNanos);
    }

    void divide(int gateways, long nowNanos) {
      requestsPart = gateways == 1 ? null : requests.part(gateways, nowNanos);
      tokensPart = gateways == 1 ? null : tokens.part(gateways, nowNanos);
    }

    void resize(KeyLimits now, int gateways) {
      boolean isWhole = requestsPart == null && tokensPart == null;
      if (isWhole && now.equals(limits)) return;
      limits = now;
      requests.resize(now.requestsPerMinute());
      tokens.resize(now.tokensPerMinute());
      if (requestsPart != null) {
        requestsPart.resize((double) now.requestsPerMinute() / gateways);
      }
      if (tokensPart != null) tokensPart.resize((double) now.tokensPerMinute() / gateways);
    }

    void consumeRequests(int count) {
      requests.consume(count);
      if (requestsPart != null) requestsPart.consume(count);
      requestsTaken += count;
    }

    void consumeTokens(long count) {
      tokens.consume((double) count);
      if (tokensPart != null) tokensPart.consume((double) count);
      tokensTaken += count;
    }

    boolean isLimited() {
      return !limits.equals(KeyLimits.UNLIMITED);
    }

    KeyRow row(long nowNanos) {
      requests.fill(nowNanos);
      tokens.fill(nowNanos);
      return new KeyRow(
          key, limits, requestsTaken, tokensTaken, concurrent, requests.left(), tokens.left());
    }
  }

  private final Map<String, Use> uses = new LinkedHashMap<>();
  private final Map<String, Use> changed = new LinkedHashMap<>();
  private @Nullable Use latest;
  private int concurrent;

  /** Among how many the limits are divided. */
  private int parts = 1;

  private boolean isShared;

  /** Counts a request; says why not where it is one too many, and counts nothing then. */
  public @Nullable Refusal begin(FlowCaller caller, long nowNanos) {
    var limits = caller.limits();
    var use = use(caller.key(), limits, nowNanos);
    int concurrentMax = Math.max(1, limits.concurrentMax() / parts);
    if (use.concurrent + use.concurrentElsewhere >= concurrentMax) {
      return new Refusal(
          Kind.TOO_MANY_CONCURRENT,
          "at most " + concurrentMax + " requests at a time with this key" + part(),
          SOON);
    }
    use.resize(limits, parts);
    var bucket = use.requestsPart == null ? use.requests : use.requestsPart;
    use.requests.fill(nowNanos);
    var refusal = refusal(bucket, 1, nowNanos, limits.requestsPerMinute(), "requests");
    if (refusal != null) return refusal;
    use.consumeRequests(1);
    use.concurrent++;
    concurrent++;
    changed(use);
    return null;
  }

  /** The request that was begun is over. */
  public void end(FlowCaller caller) {
    var use = use(caller);
    if (use.concurrent == 0) {
      throw new IllegalStateException("a request of " + caller.identity() + " ended twice");
    }
    use.concurrent--;
    concurrent--;
    changed(use);
  }

  /** Requests that were begun and are not over. */
  public int concurrent() {
    return concurrent;
  }

  /**
   * Counts the tokens of a request that was begun; says why not where they are too many, and gives
   * the request back then.
   *
   * @param promptTokens as far as they are known before anybody has answered
   */
  public @Nullable Refusal enter(FlowCaller caller, int promptTokens, long nowNanos) {
    var limits = caller.limits();
    var use = use(caller);
    use.resize(limits, parts);
    var bucket = use.tokensPart == null ? use.tokens : use.tokensPart;
    use.tokens.fill(nowNanos);
    var refusal = refusal(bucket, promptTokens, nowNanos, limits.tokensPerMinute(), "tokens");
    if (refusal == null) use.consumeTokens(promptTokens);
    else use.consumeRequests(-1);
    changed(use);
    return refusal;
  }

  private @Nullable Refusal refusal(
      TokenBucket bucket, int wanted, long nowNanos, int perMinute, String unit) {
    bucket.fill(nowNanos);
    // Without a limit nothing is too much, whatever a worker says that it computed.
    if (perMinute == Integer.MAX_VALUE) return null;
    var wait = bucket.until(wanted);
    if (wait.isZero()) return null;
    int granted = Math.max(1, perMinute / parts);
    var limit = "at most " + granted + " " + unit + " a minute with this key" + part();
    return new Refusal(Kind.RATE_LIMITED, limit, wait);
  }

  private String part() {
    return parts == 1 ? "" : " at this gateway, which does not hear the others";
  }

  /**
   * The tokens of the request are known.
   *
   * @param promptTokens as they were counted when it entered
   * @param tokens what it came to, prompt and answer together
   */
  public void leave(FlowCaller caller, int promptTokens, long tokens) {
    var use = use(caller);
    use.consumeTokens(tokens - promptTokens);
    changed(use);
  }

  /** The others are not heard: this gateway grants a part of each limit. */
  public void divide(int gateways, long nowNanos) {
    isShared = true;
    parts = gateways;
    for (var use : uses.values()) use.divide(gateways, nowNanos);
  }

  /** The others are heard: each limit is for all together. */
  public void unite() {
    isShared = true;
    parts = 1;
    for (var use : uses.values()) {
      use.requestsPart = null;
      use.tokensPart = null;
    }
  }

  /** Passes on the rows that have changed since they were last asked for. */
  public void changedRows(long nowNanos, Consumer<KeyRow> each) {
    for (var use : changed.values()) each.accept(use.row(nowNanos));
    changed.clear();
  }

  /** All keys with limits that were used lately. */
  public void rows(long nowNanos, Consumer<KeyRow> each) {
    changed.clear();
    for (var use : uses.values()) {
      if (!use.isLimited()) continue;
      var row = use.row(nowNanos);
      boolean isIdle =
          row.concurrent() == 0
              && row.requestsLeft() >= use.limits.requestsPerMinute()
              && row.tokensLeft() >= use.limits.tokensPerMinute();
      if (!isIdle) each.accept(row);
    }
  }

  /** Another gateway was asked more with a key than it told before. */
  public void elsewhere(KeyRow before, KeyRow row, long nowNanos) {
    var use = usedElsewhere(row, nowNanos);
    use.concurrentElsewhere -= before.concurrent();
    use.requests.consume((double) (row.requests() - before.requests()));
    use.tokens.consume((double) (row.tokens() - before.tokens()));
  }

  /** Another gateway that has just come knows how much is left of a key. */
  public void knownElsewhere(KeyRow row, long nowNanos) {
    var use = usedElsewhere(row, nowNanos);
    use.requests.limitTo(row.requestsLeft());
    use.tokens.limitTo(row.tokensLeft());
  }

  /** Another gateway was asked with a key, and has not told of it lately: most was long ago. */
  public void begunElsewhere(KeyRow row, long nowNanos) {
    var use = usedElsewhere(row, nowNanos);
    double requests = row.limits().requestsPerMinute() - row.requestsLeft();
    double tokens = row.limits().tokensPerMinute() - row.tokensLeft();
    use.requests.consume(Math.min((double) row.requests(), requests));
    use.tokens.consume(Math.min((double) row.tokens(), tokens));
  }

  private Use usedElsewhere(KeyRow row, long nowNanos) {
    var use = use(row.key(), row.limits(), nowNanos);
    use.requests.fill(nowNanos);
    use.tokens.fill(nowNanos);
    use.concurrentElsewhere += row.concurrent();
    return use;
  }

  private Use use(String key, KeyLimits limits, long nowNanos) {
    var use = find(key);
    if (use != null) return use;
    var fresh = new Use(key, limits, nowNanos);
    if (parts > 1) fresh.divide(parts, nowNanos);
    uses.put(key, fresh);
    return fresh;
  }

  /** Finds the use of a key; the one looked for last is often looked for again. */
  private @Nullable Use find(String key) {
    var last = latest;
    if (last != null && last.key.equals(key)) return last;
    var use = uses.get(key);
    if (use != null) latest = use;
    return use;
  }

  private void changed(Use use) {
    if (isShared && use.isLimited()) changed.put(use.key, use);
  }

  private Use use(FlowCaller caller) {
    var use = find(caller.key());
    if (use == null) throw new IllegalStateException(caller.identity() + " began no request");
    return use;
  }
}
