package dev.kvasir.sim.workload;

import dev.kvasir.sim.workload.ArrivalSpec.Bursts;
import dev.kvasir.sim.workload.ArrivalSpec.Constant;
import dev.kvasir.sim.workload.ArrivalSpec.Gamma;
import dev.kvasir.sim.workload.ArrivalSpec.Poisson;
import dev.kvasir.sim.workload.ArrivalSpec.Rates;
import java.util.List;

/** Produces arrival times in order. */
final class ArrivalClock {
  /** For arrivals that never happen. */
  static final long NEVER = Long.MAX_VALUE;

  private static final double NANOS_PER_SECOND = 1e9;

  /** Beyond it, sums of times might overflow. */
  private static final double NANOS_MAX = 4e18;

  private final ArrivalSpec spec;
  private final Chance chance;
  private double nanos;
  private double groupNanos;
  private long count;

  ArrivalClock(ArrivalSpec spec, Chance chance) {
    this.spec = spec;
    this.chance = chance;
  }

  /** When the next one arrives, in nanoseconds from the beginning. */
  long next() {
    nanos =
        switch (spec) {
          case Poisson(double perSecond) -> nanos + gap(perSecond) * chance.exponential();
          case Gamma(double perSecond, double cv) -> {
            double shape = 1 / (cv * cv);
            yield nanos + gap(perSecond) / shape * chance.gamma(shape);
          }
          case Constant(double perSecond) -> count * gap(perSecond);
          case Bursts bursts -> inGroup(bursts);
          case Rates(List<Rates.Step> steps) -> changing(steps);
        };
    count++;
    return nanos < NANOS_MAX ? (long) nanos : NEVER;
  }

  private static double gap(double perSecond) {
    return NANOS_PER_SECOND / perSecond;
  }

  private double inGroup(Bursts bursts) {
    long place = count % bursts.size();
    if (place == 0) {
      groupNanos += gap(bursts.perSecond()) * bursts.size() * chance.exponential();
      return Math.max(nanos, groupNanos);
    }
    double step = (double) bursts.spread().toNanos() / Math.max(1, bursts.size() - 1);
    return nanos + step;
  }

  /** Spends a unit exponential on the steps: the higher the rate, the sooner it is spent. */
  private double changing(List<Rates.Step> steps) {
    double left = chance.exponential();
    double at = nanos;
    for (int index = 0; index < steps.size(); index++) {
      double end =
          index + 1 < steps.size()
              ? (double) steps.get(index + 1).from().toNanos()
              : Double.MAX_VALUE;
      if (at >= end) continue;
      at = Math.max(at, (double) steps.get(index).from().toNanos());
      double perNano = steps.get(index).perSecond() / NANOS_PER_SECOND;
      if (perNano * (end - at) >= left) return at + left / perNano;
      left -= perNano * (end - at);
      at = end;
    }
    return Double.MAX_VALUE;
  }
}
