package dev.kvasir.sim.result;

import dev.kvasir.Nullable;
import java.util.List;

/**
 * Everything a simulated run gave.
 *
 * @param requests what became of each request, in the order of arrival
 * @param instances what each instance did
 * @param endMicros when the last thing happened
 * @param timeline how busy the cluster was over time
 * @param groups the groups of unlike instances, in their order; empty where all are equal
 */
public record RunResult(
    RequestResults requests,
    List<InstanceResult> instances,
    long endMicros,
    Timeline timeline,
    List<Group> groups) {
  /**
   * Instances of one kind.
   *
   * @param model whose requests they answer; empty for all requests
   * @param first the index of the first one
   * @param count how many there are
   * @param tokenBytes what the K and V of one token take there; 0 where nobody knows
   */
  public record Group(String name, String model, int first, int count, long tokenBytes) {
    public boolean has(int instance) {
      return instance >= first && instance < first + count;
    }

    public boolean serves(String requested) {
      return model.isEmpty() || requested.isEmpty() || model.equals(requested);
    }
  }

  public RunResult {
    groups = List.copyOf(groups);
  }

  /** A run of equal instances. */
  public RunResult(
      List<RequestResult> requests,
      List<InstanceResult> instances,
      long endMicros,
      Timeline timeline) {
    this(RequestResults.of(requests), instances, endMicros, timeline, List.of());
  }

  /** The group of an instance; null where all are equal. */
  public @Nullable Group groupOf(int instance) {
    for (var group : groups) if (group.has(instance)) return group;
    return null;
  }
}
