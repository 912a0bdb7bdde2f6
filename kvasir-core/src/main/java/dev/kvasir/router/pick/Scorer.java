package dev.kvasir.router.pick;

import dev.kvasir.router.view.EngineSignals;
import dev.kvasir.router.view.InstanceView;
import dev.kvasir.router.view.RouteRequest;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import java.util.function.ToIntFunction;

/** Says how well each instance suits a request, from 0 to 1, in one respect. */
@FunctionalInterface
public interface Scorer {
  /** Fills in a score for each of the instances. */
  void score(RouteRequest request, List<InstanceView> instances, double[] scores);

  /** The request goes to that instance; called after each choice. */
  default void picked(RouteRequest request, InstanceView instance) {}

  /** A scorer and how much it counts. */
  record Weighted(String name, Scorer scorer, double weight) {
    public Weighted {
      if (!(weight > 0) || weight == Double.POSITIVE_INFINITY) {
        throw new IllegalArgumentException("scorer " + name + " of weight " + weight);
      }
    }
  }

  /** Every kind of scorer by its name; each call makes one with a memory of its own. */
  private static Map<String, Supplier<Scorer>> known(ToIntFunction<InstanceView> load) {
    var known = new LinkedHashMap<String, Supplier<Scorer>>();
    known.put("precise-prefix-cache", () -> highest(view -> view.cached().total()));
    known.put("queue-depth", () -> lowest(view -> view.signals().queueDepth()));
    known.put("kv-utilization", () -> each(view -> 1 - view.signals().kvUtilisation()));
    known.put("cache-hit-rate", () -> each(Scorer::hitRate));
    known.put("load-balance", () -> each(view -> 1 / (1.0 + load.applyAsInt(view))));
    known.put("prefix-affinity", PrefixAffinityScorer::new);
    known.put("no-hit-lru", NoHitLruScorer::new);
    known.put("active-requests", () -> Scorer::scoreActiveRequests);
    known.put("running-requests", () -> lowest(view -> view.signals().batchSize()));
    known.put("load-aware", () -> each(Scorer::loadAware));
    known.put("vllm-dp", () -> lowest(view -> 4 * view.signals().queueDepth() + batchSize(view)));
    return known;
  }

  /** Reads names and weights such as {@code queue-depth:1,kv-utilization:2}. */
  static List<Weighted> parse(String text) {
    return parse(text, InstanceView::requests);
  }

  /** The same, with what an instance has to do for scorers that count its requests. */
  static List<Weighted> parse(String text, ToIntFunction<InstanceView> load) {
    var known = known(load);
    var parsed = new ArrayList<Weighted>();
    for (var part : text.split(",", -1)) {
      var pair = part.strip().split(":", 2);
      var make = known.get(pair[0].strip());
      if (make == null || pair.length != 2) {
        throw new IllegalArgumentException(
            "scorer \"" + part + "\", expected NAME:WEIGHT with a name of " + known.keySet());
      }
      var name = pair[0].strip();
      if (parsed.stream().anyMatch(other -> other.name().equals(name))) {
        throw new IllegalArgumentException("scorer " + name + " stands twice in " + text);
      }
      parsed.add(new Weighted(name, make.get(), weight(name, pair[1].strip())));
    }
    return parsed;
  }

  private static double weight(String name, String text) {
    try {
      return Double.parseDouble(text);
    } catch (NumberFormatException malformed) {
      throw new IllegalArgumentException(
          "scorer " + name + " of weight \"" + text + "\", expected a number", malformed);
    }
  }

  /** The highest value is 1, the lowest 0; all are 1 where they are equal. */
  private static Scorer highest(ToIntFunction<InstanceView> value) {
    return (_, instances, scores) -> spread(instances, value, scores, 1);
  }

  /** The lowest value is 1, the highest 0; all are 1 where they are equal. */
  private static Scorer lowest(ToIntFunction<InstanceView> value) {
    return (_, instances, scores) -> spread(instances, value, scores, -1);
  }

  private static void spread(
      List<InstanceView> instances, ToIntFunction<InstanceView> value, double[] scores, int sign) {
    int worst = Integer.MAX_VALUE;
    int best = Integer.MIN_VALUE;
    for (var view : instances) {
      int signed = sign * value.applyAsInt(view);
      worst = Math.min(worst, signed);
      best = Math.max(best, signed);
    }
    for (int i = 0; i < scores.length; i++) {
      int signed = sign * value.applyAsInt(instances.get(i));
      scores[i] = best == worst ? 1 : (double) (signed - worst) / (best - worst);
    }
  }

  private static Scorer each(ToDoubleFunction<InstanceView> value) {
    return (_, instances, scores) -> {
      for (int i = 0; i < scores.length; i++) scores[i] = value.applyAsDouble(instances.get(i));
    };
  }

  /** Nothing in flight is 1; else what is missing to the highest, as a share of it. */
  private static void scoreActiveRequests(
      RouteRequest request, List<InstanceView> instances, double[] scores) {
    int highest = 0;
    for (var view : instances) highest = Math.max(highest, view.load().inFlight());
    for (int i = 0; i < scores.length; i++) {
      int active = instances.get(i).load().inFlight();
      scores[i] = active == 0 ? 1 : (double) (highest - active) / highest;
    }
  }

  private static double loadAware(InstanceView view) {
    int queueMax = 128;
    return 0.5 * (1 - (double) Math.min(view.signals().queueDepth(), queueMax) / queueMax);
  }

  /** The share that the instance found cached so far; one that reported nothing gets the middle. */
  private static double hitRate(InstanceView view) {
    double reported = view.signals().hitRate();
    return reported == EngineSignals.UNKNOWN ? 0.5 : reported;
  }

  private static int batchSize(InstanceView view) {
    return view.signals().batchSize();
  }
}
