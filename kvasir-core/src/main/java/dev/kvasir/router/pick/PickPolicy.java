package dev.kvasir.router.pick;

import dev.kvasir.router.view.ClusterView;
import dev.kvasir.router.view.InstanceView;
import dev.kvasir.router.view.RouteRequest;
import java.util.List;
import java.util.function.ToIntFunction;

/**
 * Chooses the instance that answers a request. A policy may have state.
 *
 * <p>The cluster has at least one instance, and the policy returns one of them.
 */
@FunctionalInterface
public interface PickPolicy {
  InstanceView pick(RouteRequest request, ClusterView cluster);

  /**
   * By how much the instance that it would pick is ahead of the next best; 0 where that cannot be
   * told. Asking counts for nothing.
   */
  default double leadSeconds(RouteRequest request, ClusterView cluster) {
    return 0;
  }

  /** Returns whether it looks at nothing but which instances are there. */
  default boolean isBlind() {
    return false;
  }

  /** The place, among so many instances, of the one that it picks; only where it is blind. */
  default int pickBlindly(int instances) {
    throw new UnsupportedOperationException(
        "looks at the instances, of which there are " + instances);
  }

  /** The names that {@link #named} knows, the default first. */
  List<String> NAMES =
      List.of(
          "balanced",
          "round-robin",
          "least-loaded",
          "longest-prefix",
          "weighted",
          "always-busiest");

  /**
   * The policy of that name.
   *
   * @param scorers for {@code weighted}, as in {@link WeightedPick#SCORERS_DEFAULT}
   */
  static PickPolicy named(String name, String scorers, Ties ties) {
    return named(name, scorers, BalancedPick.Prices.DEFAULT, ties, InstanceView::requests);
  }

  /**
   * The policy of that name.
   *
   * @param scorers for {@code weighted}, as in {@link WeightedPick#SCORERS_DEFAULT}
   * @param prices for {@code balanced}
   * @param load what an instance has to do, for policies that count its requests
   */
  static PickPolicy named(
      String name,
      String scorers,
      BalancedPick.Prices prices,
      Ties ties,
      ToIntFunction<InstanceView> load) {
    return switch (name) {
      case "balanced" -> new BalancedPick(prices, ties);
      case "round-robin" -> new RoundRobinPick();
      case "least-loaded" -> leastLoaded(ties, load);
      case "longest-prefix" -> longestPrefix();
      case "weighted" -> new WeightedPick(Scorer.parse(scorers, load), ties);
      case "always-busiest" -> alwaysBusiest(load);
      default ->
          throw new IllegalArgumentException("no routing \"" + name + "\", use one of " + NAMES);
    };
  }

  /** The one with the least load. */
  static PickPolicy leastLoaded(Ties ties, ToIntFunction<InstanceView> load) {
    return (_, cluster) -> {
      var instances = cluster.instances();
      var cost = new double[instances.size()];
      for (int i = 0; i < cost.length; i++) cost[i] = -load.applyAsInt(instances.get(i));
      return instances.get(Best.of(cost, ties));
    };
  }

  /** The one that holds the most of the prefix, the first of several; whatever it has to do. */
  static PickPolicy longestPrefix() {
    return (_, cluster) -> {
      var instances = cluster.instances();
      var score = new double[instances.size()];
      for (int i = 0; i < score.length; i++) score[i] = instances.get(i).cached().total();
      return instances.get(Best.of(score, Ties.first()));
    };
  }

  /** The one with the most to do, to see what that does. */
  static PickPolicy alwaysBusiest(ToIntFunction<InstanceView> load) {
    return (_, cluster) -> {
      var instances = cluster.instances();
      var score = new double[instances.size()];
      for (int i = 0; i < score.length; i++) score[i] = load.applyAsInt(instances.get(i));
      return instances.get(Best.of(score, Ties.first()));
    };
  }
}
