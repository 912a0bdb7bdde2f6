package dev.kvasir.sim.report;

import dev.kvasir.sim.result.RequestResult;
import dev.kvasir.sim.result.RunResult;
import dev.kvasir.sim.trace.Captured;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.function.ToLongFunction;

/**
 * Predictions for the requests of a capture beside what was measured there.
 *
 * <p>Times are fitted to every second request, and compared for the others alone. Nothing is fitted
 * to what was cached, so that is compared for all.
 *
 * @param pairs all requests, in order of arrival
 * @param fitted which of them the times were fitted to
 */
public record Fidelity(List<Pair> pairs, Fitted fitted) {
  /** Requests that the times were fitted to. */
  public enum Fitted {
    /** Every second one; the others are compared. */
    HALF,
    /** None of these: a profile of other captures foretells them, and all are compared. */
    NONE
  }

  public Fidelity {
    pairs = List.copyOf(pairs);
  }

  /** One request, measured and predicted. */
  public record Pair(Captured measured, RequestResult predicted) {
    /** Measured, in microseconds; below 1 where it was not. */
    public long measuredTtft() {
      return measured.ttftNanos() / 1000;
    }

    public long measuredE2e() {
      return measured.e2eNanos() / 1000;
    }
  }

  /**
   * A time as it was spread over the requests.
   *
   * @param offP50 half of the requests are off by at most this share of what was measured
   */
  public record Time(int requests, Quantiles measured, Quantiles predicted, double offP50) {
    /** The relative error of the predicted median. */
    public double medianError() {
      return error(measured.percentileMicros(50), predicted.percentileMicros(50));
    }
  }

  /** The relative error of a predicted figure. */
  public static double error(double measured, double predicted) {
    return measured == 0 ? 0 : predicted / measured - 1;
  }

  /** All requests of a capture; the run must be of these. */
  public static Fidelity of(List<Captured> measured, RunResult run) {
    if (measured.size() != run.requests().size()) {
      throw new IllegalArgumentException(
          measured.size() + " requests were captured and " + run.requests().size() + " simulated");
    }
    // Callers that wait ask in another order where their answers come in another.
    var predicted = new LinkedHashMap<String, ArrayDeque<RequestResult>>();
    for (var each : run.requests()) {
      predicted.computeIfAbsent(each.request().id(), _ -> new ArrayDeque<>(1)).add(each);
    }
    var pairs = new ArrayList<Pair>();
    for (var each : measured) {
      var id = each.request().id();
      var results = predicted.get(id);
      var result = results == null ? null : results.pollFirst();
      if (result == null) throw new IllegalArgumentException(id + " was not simulated");
      pairs.add(new Pair(each, result));
    }
    return new Fidelity(pairs, Fitted.HALF);
  }

  /** The same for times that were fitted to none of these requests. */
  public Fidelity foretold() {
    return new Fidelity(pairs, Fitted.NONE);
  }

  /** The requests whose times are compared. */
  public List<Pair> compared() {
    return fitted == Fitted.NONE ? pairs : half(1);
  }

  private List<Pair> half(int from) {
    var half = new ArrayList<Pair>();
    for (int i = from; i < pairs.size(); i += 2) half.add(pairs.get(i));
    return half;
  }

  public Time ttft() {
    return time(Pair::measuredTtft, RequestResult::ttftMicros);
  }

  public Time e2e() {
    return time(Pair::measuredE2e, RequestResult::e2eMicros);
  }

  private Time time(ToLongFunction<Pair> measured, ToLongFunction<RequestResult> predicted) {
    var known =
        compared().stream()
            .filter(pair -> measured.applyAsLong(pair) > 0)
            .filter(pair -> predicted.applyAsLong(pair.predicted) >= 0)
            .toList();
    var there = known.stream().mapToLong(measured).toArray();
    var here = known.stream().map(Pair::predicted).mapToLong(predicted).toArray();
    var off = new double[known.size()];
    for (int i = 0; i < off.length; i++)
      off[i] = Math.abs(error((double) there[i], (double) here[i]));
    Arrays.sort(off);
    double half = off.length == 0 ? 0 : off[off.length / 2];
    return new Time(off.length, new Quantiles(there), new Quantiles(here), half);
  }

  /**
   * The median delay of measured first tokens behind predicted ones, over the requests that times
   * are fitted to; 0 if they came sooner.
   */
  public double lateP50Micros() {
    var late =
        half(0).stream()
            .filter(pair -> pair.measuredTtft() > 0 && pair.predicted.ttftMicros() >= 0)
            .mapToDouble(pair -> pair.measuredTtft() - pair.predicted.ttftMicros())
            .sorted()
            .toArray();
    return late.length == 0 ? 0 : Math.max(0, late[late.length / 2]);
  }

  /** The share of prompt tokens that needed no computing where they were measured. */
  public double measuredHitRate() {
    return hitRate(pair -> pair.measured.cachedTokens());
  }

  public double predictedHitRate() {
    return hitRate(pair -> pair.predicted.cachedTokens());
  }

  private double hitRate(ToLongFunction<Pair> cached) {
    long prompts = 0;
    for (var pair : pairs) prompts += pair.measured.request().promptTokens();
    return prompts == 0 ? 0 : (double) pairs.stream().mapToLong(cached).sum() / prompts;
  }
}
