package dev.kvasir.sim.plan;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;

/**
 * Looks for the fewest engines with which each alternative keeps the targets.
 *
 * <pre>
 *   engines   1  2  4  8        doubled until they do,
 *                     6  5      then halved in between:  4 fail, 5 keep
 * </pre>
 *
 * <p>It goes on with an alternative only as long as that can still be the cheapest or the next to
 * it, so that both are known when it ends. It assumes that more engines never keep the targets less
 * often. The run with one engine fewer has failed, so chance cannot mislead it far.
 *
 * <p>It proceeds in rounds of at most one run for each alternative. What runs in a round does not
 * depend on how many of them go on at once.
 */
public final class CheapestSearch {
  /**
   * A kind of engine that can be had in any number.
   *
   * @param hourly what so many of them cost in an hour; more cost more
   */
  public record Alternative(IntToDoubleFunction hourly) {}

  /** A run to make. */
  public record Trial(int alternative, int engines) {}

  /** Knowledge about an alternative. */
  public enum Knowledge {
    /** The fewest engines that keep the targets are known. */
    FOUND,
    /** Two others keep the targets for less. */
    TOO_DEAR,
    /** Not even the most engines allowed keep them. */
    NEVER,
    /** Runs are left to make. */
    OPEN
  }

  private final List<Alternative> alternatives;
  private final int enginesMax;
  private final int[] failing;
  private final int[] passing;
  private int runsLeft;

  /**
   * Nothing tried yet.
   *
   * @param enginesMax of one alternative
   * @param runsMax of all together
   */
  public CheapestSearch(List<Alternative> alternatives, int enginesMax, int runsMax) {
    if (alternatives.isEmpty() || enginesMax < 1 || runsMax < 1) {
      throw new IllegalArgumentException(
          "%d alternatives, up to %d engines, %d runs; expected 1 or more of each"
              .formatted(alternatives.size(), enginesMax, runsMax));
    }
    this.alternatives = List.copyOf(alternatives);
    this.enginesMax = enginesMax;
    this.runsLeft = runsMax;
    failing = new int[alternatives.size()];
    passing = new int[alternatives.size()];
  }

  /** The runs of the next round; none when everything is known, or no runs are left. */
  public List<Trial> next() {
    var trials = new ArrayList<Trial>();
    double limit = limit();
    for (int i = 0; i < alternatives.size() && trials.size() < runsLeft; i++) {
      if (knowledge(i) == Knowledge.OPEN) trials.add(new Trial(i, engines(i, limit)));
    }
    return trials;
  }

  /** A run has been made. */
  public void tried(Trial trial, Verdict verdict) {
    int i = trial.alternative();
    runsLeft--;
    switch (verdict) {
      case KEEPS -> passing[i] = trial.engines();
      case FAILS -> failing[i] = trial.engines();
    }
  }

  /** Verdict on whether a run kept the targets. */
  public enum Verdict {
    KEEPS,
    FAILS
  }

  public Knowledge knowledge(int alternative) {
    if (passing[alternative] == failing[alternative] + 1) return Knowledge.FOUND;
    if (failing[alternative] >= enginesMax) return Knowledge.NEVER;
    boolean isDear = hourly(alternative, failing[alternative] + 1) >= limit();
    return isDear ? Knowledge.TOO_DEAR : Knowledge.OPEN;
  }

  /** The alternatives that are known to keep the targets, the cheapest first. */
  public List<Trial> ranking() {
    return IntStream.range(0, passing.length)
        .filter(i -> passing[i] > 0)
        .mapToObj(i -> new Trial(i, passing[i]))
        .sorted(Comparator.comparingDouble(this::hourly))
        .toList();
  }

  /** Returns what the engines of a run cost in an hour. */
  public double hourly(Trial trial) {
    return hourly(trial.alternative(), trial.engines());
  }

  /** Returns whether the runs ran out before all was known. */
  public boolean isCutShort() {
    return IntStream.range(0, passing.length).anyMatch(i -> knowledge(i) == Knowledge.OPEN);
  }

  /** Returns the cost of the second cheapest alternative that is known to keep the targets. */
  private double limit() {
    var costs = ranking().stream().mapToDouble(this::hourly).toArray();
    Arrays.sort(costs);
    return costs.length < 2 ? Double.POSITIVE_INFINITY : costs[1];
  }

  private int engines(int alternative, double limit) {
    int fails = failing[alternative];
    int keeps = passing[alternative];
    if (keeps > 0) return (fails + keeps) >>> 1;
    int engines = Math.min(enginesMax, Math.max(1, 2 * fails));
    while (engines > fails + 1 && hourly(alternative, engines) >= limit) engines--;
    return engines;
  }

  private double hourly(int alternative, int engines) {
    return alternatives.get(alternative).hourly().applyAsDouble(engines);
  }
}
