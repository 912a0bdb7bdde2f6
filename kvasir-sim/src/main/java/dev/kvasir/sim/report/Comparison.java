package dev.kvasir.sim.report;

import dev.kvasir.sim.cost.FleetHardware;
import dev.kvasir.sim.cost.Prices;
import java.util.ArrayList;
import java.util.List;

/**
 * The same workload under several settings.
 *
 * @param keys what was varied
 * @param points one run each, in the order of the grid: the last key changes fastest
 * @param attainment the share of requests that should keep the targets
 */
public record Comparison(
    List<String> keys, List<Point> points, Goodput.Targets targets, double attainment) {
  public Comparison {
    keys = List.copyOf(keys);
    points = List.copyOf(points);
    if (points.isEmpty()) throw new IllegalArgumentException("nothing to compare");
    if (!(attainment > 0 && attainment <= 1)) {
      throw new IllegalArgumentException("an attainment of " + attainment + "; it is up to 1");
    }
    for (var point : points) {
      if (point.values().size() != keys.size()) {
        throw new IllegalArgumentException(keys + " but " + point.values());
      }
    }
  }

  /**
   * One run of a comparison.
   *
   * @param values what each key was set to
   * @param prices of its hardware
   */
  public record Point(List<String> values, Summary summary, FleetHardware fleet, Prices prices) {
    public Point {
      values = List.copyOf(values);
    }
  }

  /** Returns what the run would have cost. */
  public double cost(Point point) {
    var summary = point.summary();
    double seconds = summary.durationSeconds() * summary.presence();
    double cost = point.fleet().cost(seconds, point.prices());
    for (var price : point.prices().tiers()) {
      for (var total : point.summary().tiers()) {
        if (total.tier() == price.tier()) cost += price.requests(total.stored(), total.loaded());
      }
    }
    return cost;
  }

  /** The settings of a point as they are written: key=value, key=value. */
  public String name(Point point) {
    var names = new ArrayList<String>();
    for (int i = 0; i < keys.size(); i++) names.add(keys.get(i) + "=" + point.values().get(i));
    return String.join(", ", names);
  }

  /** Returns the unit in which costs are counted. */
  public String unit() {
    return points.getFirst().prices().unit();
  }

  public boolean hasTargets() {
    return !targets.equals(Goodput.Targets.NONE);
  }

  public boolean isKept(Point point) {
    return point.summary().goodput().attainment() >= attainment;
  }
}
