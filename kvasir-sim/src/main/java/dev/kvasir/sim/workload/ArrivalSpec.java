package dev.kvasir.sim.workload;

import dev.kvasir.spec.Section;
import java.time.Duration;
import java.util.List;
import java.util.function.DoubleSupplier;

/** Distribution of arrivals over time. */
public sealed interface ArrivalSpec {
  double RATE_MAX = 1e9;
  double RATE_MIN = 1e-6;

  /** Independent arrivals. */
  record Poisson(double perSecond) implements ArrivalSpec {
    public Poisson {
      requireRate(perSecond);
    }
  }

  /**
   * Arrivals that cluster, or that are steadier than Poisson.
   *
   * @param cv the deviation of the gaps by their mean: 1 is Poisson, more clusters, less is
   *     steadier
   */
  record Gamma(double perSecond, double cv) implements ArrivalSpec {
    public Gamma {
      requireRate(perSecond);
      if (!(cv >= 0.01 && cv <= 100)) {
        throw new IllegalArgumentException("cv " + cv + ", must be 0.01 to 100");
      }
    }
  }

  /** Equal gaps. */
  record Constant(double perSecond) implements ArrivalSpec {
    public Constant {
      requireRate(perSecond);
    }
  }

  /**
   * Groups of arrivals; the groups come by Poisson.
   *
   * @param perSecond of all arrivals, not of groups
   * @param size how many come in a group
   * @param spread from the first of a group to its last; a group that is late holds up the next
   */
  record Bursts(double perSecond, int size, Duration spread) implements ArrivalSpec {
    public Bursts {
      requireRate(perSecond);
      if (size <= 0) throw new IllegalArgumentException("bursts of " + size);
      if (spread.isNegative() || spread.compareTo(Duration.ofDays(365)) > 0) {
        throw new IllegalArgumentException("spread over " + spread);
      }
    }
  }

  /** Poisson at a rate that changes over time; the last one lasts. */
  record Rates(List<Step> steps) implements ArrivalSpec {
    /** From then on, that many a second. */
    public record Step(Duration from, double perSecond) {
      public Step {
        if (from.isNegative()) throw new IllegalArgumentException("from " + from);
        if (!(perSecond >= 0 && perSecond <= RATE_MAX)) {
          throw new IllegalArgumentException("rate " + perSecond);
        }
      }
    }

    public Rates {
      steps = List.copyOf(steps);
      if (steps.isEmpty()) throw new IllegalArgumentException("no rates");
      for (int index = 1; index < steps.size(); index++) {
        if (steps.get(index).from().compareTo(steps.get(index - 1).from()) <= 0) {
          throw new IllegalArgumentException(
              "rate from " + steps.get(index).from() + " after " + steps.get(index - 1).from());
        }
      }
    }
  }

  /** The same arrivals, so many times as often. */
  default ArrivalSpec times(double factor) {
    return switch (this) {
      case Poisson(double rate) -> new Poisson(rate * factor);
      case Gamma(double rate, double cv) -> new Gamma(rate * factor, cv);
      case Constant(double rate) -> new Constant(rate * factor);
      case Bursts(double rate, int size, Duration spread) ->
          new Bursts(rate * factor, size, spread);
      case Rates(List<Rates.Step> steps) ->
          new Rates(
              steps.stream()
                  .map(step -> new Rates.Step(step.from(), step.perSecond() * factor))
                  .toList());
    };
  }

  private static void requireRate(double perSecond) {
    if (!(perSecond >= RATE_MIN && perSecond <= RATE_MAX)) {
      throw new IllegalArgumentException(
          "rate " + perSecond + ", must be " + RATE_MIN + " to " + RATE_MAX + " a second");
    }
  }

  /**
   * Reads the arrivals of a client (default: Poisson).
   *
   * @param rate asked only where the arrivals have no rates of their own
   */
  static ArrivalSpec read(Section client, DoubleSupplier rate) {
    if (!client.has("arrival")) return new Poisson(rate.getAsDouble());
    return client.section("arrival").as(section -> process(section, rate));
  }

  private static ArrivalSpec process(Section section, DoubleSupplier rate) {
    return switch (section.text("process")) {
      case "poisson" -> new Poisson(rate.getAsDouble());
      case "gamma" -> new Gamma(rate.getAsDouble(), section.number("cv"));
      case "constant" -> new Constant(rate.getAsDouble());
      case "bursts" ->
          new Bursts(
              rate.getAsDouble(),
              section.tokens("size"),
              section.duration("spread", Duration.ZERO));
      case "rates" ->
          new Rates(
              section.sections(
                  "steps", step -> new Rates.Step(step.duration("from"), step.number("rate"))));
      default ->
          throw section.unknown(
              "process", List.of("poisson", "gamma", "constant", "bursts", "rates"));
    };
  }
}
