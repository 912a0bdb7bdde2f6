package dev.kvasir.sim.report;

import dev.kvasir.engine.PlanningSettings;
import dev.kvasir.router.view.Role;
import java.util.List;

/**
 * What one instance did.
 *
 * @param role which part of requests it is there for
 * @param waiting requests that still waited at the end
 * @param running requests that were still being computed at the end
 * @param preemptions how often a request had to make room
 * @param steps forward passes
 * @param busyMicros how long it computed
 * @param inputTokens tokens of all prompts that it accepted
 * @param hitBlocks blocks that needed no computing
 * @param missBlocks blocks taken to be computed
 * @param allocationFailures blocks that a finished request asked for in vain
 * @param gaps the times between tokens
 * @param tiers its memory and what lies below, fastest first
 * @param planning how the plans for its steps were come by
 * @param presentMicros how long it was there; {@link #ALWAYS} for the whole run
 */
public record InstanceResult(
    Role role,
    int waiting,
    int running,
    long preemptions,
    long steps,
    long busyMicros,
    long inputTokens,
    long hitBlocks,
    long missBlocks,
    long allocationFailures,
    Gaps gaps,
    List<TierResult> tiers,
    PlanningSettings.Stats planning,
    long presentMicros) {
  public static final long ALWAYS = -1;

  public InstanceResult {
    tiers = List.copyOf(tiers);
  }

  /** The same of an instance that was there for so long. */
  public InstanceResult present(long micros) {
    return new InstanceResult(
        role,
        waiting,
        running,
        preemptions,
        steps,
        busyMicros,
        inputTokens,
        hitBlocks,
        missBlocks,
        allocationFailures,
        gaps,
        tiers,
        planning,
        micros);
  }

  /** The share of blocks that needed no computing. */
  public double hitRate() {
    long all = hitBlocks + missBlocks;
    return all == 0 ? 0 : (double) hitBlocks / all;
  }
}
