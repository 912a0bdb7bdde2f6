package dev.kvasir.sim.transfer;

import dev.kvasir.Nullable;
import dev.kvasir.engine.EngineSettings;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.KvStore;
import dev.kvasir.sim.result.InstanceResult.TierResult;
import dev.kvasir.time.EventLoop;
import java.util.List;

/** Rule by which the time of transfers between tiers counts. */
public interface TransferModel {
  /** Transfers go on beside the steps, and whoever waits for one lets others go first. */
  record Event() implements TransferModel {}

  /** Refuses tiers that it has no model of. */
  default void check(List<TierSpec> tiers) {
    // Any will do.
  }

  /** Returns whether several engines may share tiers. */
  default boolean canShare() {
    return true;
  }

  /** Returns the settings by which an engine with such memory forms its batches. */
  default EngineSettings engine(EngineSettings settings) {
    return settings;
  }

  /** The memory of an engine with tiers below it; null where the usual tiered cache is right. */
  default @Nullable Memory memory(EventLoop loop, BlockPool top, List<TierSpec> tiers) {
    return null;
  }

  /** Memory whose transfers take their time within the steps. */
  interface Memory extends KvStore {
    /** Returns the time taken by transfers since the last call, and resets it to zero. */
    long drainPendingMicros();

    /** Returns what the tiers have done. */
    List<TierResult> tiers();
  }
}
