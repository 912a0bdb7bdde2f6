package dev.kvasir.kv;

import java.util.Optional;

/** Names a registered block without holding it; holds are counted, never left to the collector. */
public record WeakBlock(BlockPool pool, BlockHash hash) {

  /** A strong hold, unless the block has been evicted. */
  public Optional<Block.Registered> upgrade() {
    return pool.hold(hash);
  }
}
