package dev.kvasir.gateway.journal;

import dev.kvasir.gateway.dashboard.DashboardState;
import dev.kvasir.gateway.dashboard.Latency;
import dev.kvasir.gateway.dashboard.RollingLatency;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Figures of the latest requests, for those who watch. Belongs to the loop of the router. */
public final class Recent {
  private static final double RATE_SECONDS = 10;

  /** Record of what a worker has done for callers. */
  private static final class Tally {
    private long requests;
    private long promptTokens;
    private long cachedTokens;
    private double tokensPerSecond;
    private long atNanos;

    /** Tokens count less the longer they are past. */
    private void add(long tokens, long nanos) {
      decay(nanos);
      tokensPerSecond += tokens / RATE_SECONDS;
    }

    private void decay(long nanos) {
      tokensPerSecond *= Math.exp((atNanos - nanos) / 1e9 / RATE_SECONDS);
      atNanos = nanos;
    }
  }

  private final Deque<Decision> decisions = new ArrayDeque<>();
  private final Map<String, Tally> tallies = new LinkedHashMap<>();
  private final RollingLatency firstToken = new RollingLatency(System::nanoTime);
  private final RollingLatency nextToken = new RollingLatency(System::nanoTime);

  void add(Decision decision) {
    if (decision.route() == null) return;
    decisions.addFirst(decision);
    if (decisions.size() > DashboardState.DECISIONS_MAX) decisions.removeLast();
    double first = decision.firstTokenSeconds();
    long tokens = decision.ending().outputTokens();
    if (first >= 0) {
      firstToken.add(first);
      double rest = Math.max(0, decision.seconds() - first);
      if (tokens > 1) nextToken.add(rest / (tokens - 1));
    }
    var tally = tallies.computeIfAbsent(decision.decode(), _ -> new Tally());
    tally.requests++;
    tally.promptTokens += Math.max(0, decision.ending().usage().promptTokens());
    tally.cachedTokens += Math.max(0, decision.ending().usage().cachedTokens());
    tally.add(Math.max(0, tokens), decision.doneNanos());
  }

  /** Newest first. */
  public List<Decision> decisions() {
    return List.copyOf(decisions);
  }

  public Latency firstToken() {
    return firstToken.latency();
  }

  public Latency nextToken() {
    return nextToken.latency();
  }

  public long requests(String worker) {
    var tally = tallies.get(worker);
    return tally == null ? 0 : tally.requests;
  }

  /** The share of prompt tokens that the worker found cached; NaN before the first. */
  public double hitRate(String worker) {
    var tally = tallies.get(worker);
    if (tally == null || tally.promptTokens == 0) return Double.NaN;
    return (double) tally.cachedTokens / tally.promptTokens;
  }

  public double tokensPerSecond(String worker, long nowNanos) {
    var tally = tallies.get(worker);
    if (tally == null) return 0;
    tally.decay(nowNanos);
    return tally.tokensPerSecond;
  }
}
