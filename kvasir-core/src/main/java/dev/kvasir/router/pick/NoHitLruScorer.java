package dev.kvasir.router.pick;

import dev.kvasir.router.view.InstanceView;
import dev.kvasir.router.view.RouteRequest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Spreads requests that no instance has cached: prefers instances that had none of these, then
 * those whose last one was longest ago.
 */
final class NoHitLruScorer implements Scorer {
  private static final double NEUTRAL = 0.5;

  /** Those that got such a request, the last one first. */
  private final List<Integer> used = new ArrayList<>();

  private boolean warm;

  @Override
  public void score(RouteRequest request, List<InstanceView> instances, double[] scores) {
    warm = instances.stream().anyMatch(view -> view.cached().total() > 0);
    int last = scores.length - 1;
    if (warm || last < 1) {
      Arrays.fill(scores, warm ? NEUTRAL : 1);
      return;
    }
    used.removeIf(id -> instances.stream().noneMatch(view -> view.id() == id));
    int rank = 0;
    for (int i = 0; i <= last; i++) {
      if (!used.contains(instances.get(i).id())) scores[i] = 1 - (double) rank++ / last;
    }
    for (int at = used.size() - 1; at >= 0; at--) {
      scores[indexOf(used.get(at), instances)] = 1 - (double) rank++ / last;
    }
  }

  @Override
  public void picked(RouteRequest request, InstanceView instance) {
    if (warm) return;
    used.remove(Integer.valueOf(instance.id()));
    used.addFirst(instance.id());
  }

  private static int indexOf(int id, List<InstanceView> instances) {
    for (int i = 0; i < instances.size(); i++) {
      if (instances.get(i).id() == id) return i;
    }
    throw new IllegalStateException("instance " + id + " is none of " + instances);
  }
}
