package dev.kvasir.kv;

import dev.kvasir.kv.name.BlockHash;
import java.util.Optional;

/** Names a registered block without holding it; holds are counted, never left to the collector. */
public record WeakBlock(BlockPool pool, BlockHash hash) {

  /** A strong hold to move the block with, unless it has been evicted; it counts as no use. */
  public Optional<Block.Registered> upgrade() {
    return pool.pin(hash);
  }
}
