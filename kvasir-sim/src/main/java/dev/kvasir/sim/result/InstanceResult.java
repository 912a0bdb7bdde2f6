package dev.kvasir.sim.result;

import dev.kvasir.Records;
import dev.kvasir.engine.PlanningSettings;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.router.view.Role;
import java.util.List;

/**
 * Result of one instance.
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

  /**
   * Result of one tier of an instance.
   *
   * @param blocks how many it holds
   * @param stored blocks copied into it from above
   * @param loaded blocks copied from it to above
   * @param evicted cached blocks that made room
   * @param thrashed blocks loaded within a millisecond after they were stored
   * @param busyDownMicros how long the way down to it was busy
   * @param busyUpMicros how long the way up from it was busy
   */
  public record TierResult(
      Tier tier,
      int blocks,
      long stored,
      long loaded,
      long evicted,
      long thrashed,
      long busyDownMicros,
      long busyUpMicros) {}

  public InstanceResult {
    tiers = List.copyOf(tiers);
  }

  /** The same of an instance that was there for so long. */
  public InstanceResult present(long micros) {
    return Records.with(this, "presentMicros", micros);
  }

  /** The share of blocks that needed no computing. */
  public double hitRate() {
    long all = hitBlocks + missBlocks;
    return all == 0 ? 0 : (double) hitBlocks / all;
  }
}
