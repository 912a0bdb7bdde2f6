package dev.kvasir.sim.blis;

import dev.kvasir.engine.EngineSettings;
import dev.kvasir.engine.PlanningSettings;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.sim.transfer.TierSpec;
import dev.kvasir.sim.transfer.TransferModel;
import dev.kvasir.time.EventLoop;
import java.util.List;

/**
 * Transfers are instant, and their time is added to the step that needed them.
 *
 * @param threshold the share of memory in use above which cached blocks move to the host
 */
public record StepTransfers(double threshold) implements TransferModel {
  public StepTransfers {
    if (!(threshold >= 0 && threshold <= 1)) {
      throw new IllegalArgumentException("offloads above " + threshold + ", expected 0 to 1");
    }
  }

  @Override
  public void check(List<TierSpec> tiers) {
    if (tiers.size() > 1 || (tiers.size() == 1 && tiers.getFirst().tier() != Tier.HOST)) {
      throw new IllegalArgumentException(
          "transfers within a step know the host tier alone; use events for " + tiers);
    }
  }

  @Override
  public boolean canShare() {
    return false;
  }

  /** Reloads belong to the step that asks for them; nothing is foreseen. */
  @Override
  public EngineSettings engine(EngineSettings settings) {
    long nanosPerLook = settings.planning().nanosPerLook();
    return settings.with(new PlanningSettings(PlanningSettings.Mode.SEQUENTIAL, nanosPerLook));
  }

  @Override
  public Memory memory(EventLoop loop, BlockPool top, List<TierSpec> tiers) {
    return new SteppedTiers(loop, top, tiers.getFirst(), threshold);
  }
}
