package dev.kvasir.sim.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * The best setting, and the reason.
 *
 * @param index which of the points it is
 */
public record BestPoint(int index, String reason) {
  /**
   * The cheapest that keeps the targets as asked; where none does, the one that comes closest.
   *
   * <p>Of those that cost the same, the one with the least memory below the GPUs. Without targets
   * nothing tells how much is enough: then the one whose first tokens come soonest.
   */
  public static BestPoint of(Comparison comparison) {
    var choice = new Choice(comparison.points());
    var kept = comparison.points().stream().filter(comparison::isKept).toList();
    if (kept.isEmpty()) {
      choice.because(
          "none keeps the targets for " + share(comparison.attainment()) + " of the requests");
      choice.least(point -> -attainment(point), "comes closest");
      choice.least(comparison::cost, "costs least");
    } else if (comparison.hasTargets()) {
      choice.left = kept;
      choice.because(
          kept.size()
              + " of "
              + comparison.points().size()
              + " keep the targets for "
              + share(comparison.attainment())
              + " of the requests");
      choice.about(comparison::cost, "costs least");
      choice.least(point -> point.fleet().tokensBelow(), "needs the least memory below the GPUs");
      choice.least(point -> -attainment(point), "keeps them most often");
    } else {
      choice.left = kept;
      choice.because("no targets are given");
      choice.about(comparison::cost, "costs least");
    }
    choice.least(point -> point.summary().ttft().p90(), "has the soonest first tokens (p90)");
    var best = choice.left.getFirst();
    return new BestPoint(comparison.points().indexOf(best), choice.text());
  }

  private static double attainment(Comparison.Point point) {
    return point.summary().goodput().attainment();
  }

  private static String share(double share) {
    return String.format(Locale.ROOT, "%.1f %%", 100 * share);
  }

  /** The settings that remain, and why others were dropped. */
  private static final class Choice {
    /** Smaller differences count as equal, since the end of a run varies by chance. */
    private static final double SAME = 1.01;

    private final List<String> reasons = new ArrayList<>();
    private List<Comparison.Point> left;

    Choice(List<Comparison.Point> left) {
      this.left = left;
    }

    String text() {
      var merits = String.join(", ", reasons.subList(1, reasons.size()));
      return reasons.getFirst() + (merits.isEmpty() ? "" : "; this one " + merits);
    }

    void because(String reason) {
      reasons.add(reason);
    }

    void least(ToDoubleFunction<Comparison.Point> figure, String reason) {
      narrow(figure, lowest(figure), reason);
    }

    /** Those that are hardly above the least. */
    void about(ToDoubleFunction<Comparison.Point> figure, String reason) {
      narrow(figure, lowest(figure) * SAME, reason);
    }

    private double lowest(ToDoubleFunction<Comparison.Point> figure) {
      return left.stream().mapToDouble(figure).min().orElseThrow();
    }

    private void narrow(ToDoubleFunction<Comparison.Point> figure, double limit, String reason) {
      var fewer = left.stream().filter(point -> figure.applyAsDouble(point) <= limit).toList();
      if (fewer.size() < left.size()) reasons.add(reason);
      left = fewer;
    }
  }
}
