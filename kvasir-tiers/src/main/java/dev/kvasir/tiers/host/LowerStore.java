package dev.kvasir.tiers.host;

import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.offload.state.StoreTally;
import dev.kvasir.offload.store.TierStore;

/** A store below host memory. */
public interface LowerStore extends TierStore, AutoCloseable {
  /** Adds what is there already to the pool of its tier, before the first copy. */
  default void restore(BlockPool pool) {
    // Most know only what is stored from now on, or ask a server.
  }

  /** Returns how many loads may wait or run at a time; it refuses others. */
  int queueMax();

  /** Returns what the store has done so far. */
  StoreTally tally(Tier tier);

  @Override
  void close();
}
