package dev.kvasir.tiers;

import dev.kvasir.Nullable;
import dev.kvasir.Records;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.tiers.host.HostMemory;
import dev.kvasir.tiers.host.LowerStore;
import dev.kvasir.tiers.shared.BlockSeals;
import dev.kvasir.tiers.shared.SealSettings;
import dev.kvasir.time.EventLoop;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;

/** Settings that a deployment has for one tier below the memory of its engines. */
public interface TierConfig {
  Tier tier();

  /** Returns the number of blocks of the tier; 0 for none. */
  int blocks();

  /** The same with so many blocks; each tier is a record that has them as a component. */
  default TierConfig withBlocks(int count) {
    return (TierConfig) Records.with((Record) this, "blocks", count);
  }

  /** Returns how blocks come to the tier from the one above. */
  EdgeSettings edge();

  /**
   * A tier below host memory, by what keeps its blocks. A backend is a record of this kind, with a
   * line among the kinds of tiers.
   */
  interface Below extends TierConfig {
    /** The same with another edge. */
    default Below with(EdgeSettings other) {
      return (Below) Records.with((Record) this, "edge", other);
    }

    /** When it is left alone. */
    GuardSettings guard();

    /** Returns where the blocks of the tier are, in words. */
    String place(@Nullable Path folder);

    /** Opens it; an exception costs the tier, and not the service. */
    LowerStore open(Opening opening) throws IOException;
  }

  /** A tier on a server that other processes store on too. */
  interface Shared extends Below {
    /** Returns how blocks are protected on the tier. */
    SealSettings seal();

    /** Returns how long a prompt waits to hear what others have stored; 0 for not asking. */
    Duration lookTime();

    /** Returns how long the server keeps a block. */
    Duration kept();
  }

  /**
   * Parts with which a tier is opened.
   *
   * @param memory the host memory that it copies to and from
   * @param layout another number for other weights or another layout
   * @param folder folder of the blocks on disk; null for none
   */
  record Opening(EventLoop loop, HostMemory memory, long layout, @Nullable Path folder) {
    BlockSeals seals(SealSettings settings) {
      return BlockSeals.of(memory.blockBytes(), layout, settings);
    }
  }
}
