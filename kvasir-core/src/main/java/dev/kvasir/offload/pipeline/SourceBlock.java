package dev.kvasir.offload.pipeline;

import dev.kvasir.kv.Block;
import dev.kvasir.kv.WeakBlock;
import dev.kvasir.kv.name.BlockHash;
import java.util.Optional;

/** A block to move, held or only named while it waits. */
public sealed interface SourceBlock {
  BlockHash hash();

  /** The hold for the transfer; empty if the block was evicted. */
  Optional<Block.Registered> upgrade();

  /** Gives up the block without moving it. */
  void drop();

  /** A block that may be evicted while it waits. */
  record Weak(WeakBlock block) implements SourceBlock {
    @Override
    public BlockHash hash() {
      return block.hash();
    }

    @Override
    public Optional<Block.Registered> upgrade() {
      return block.upgrade();
    }

    @Override
    public void drop() {
      // Nothing is held.
    }
  }

  /** A block that cannot be evicted while it waits; the hold passes to the pipeline. */
  record Strong(Block.Registered block) implements SourceBlock {
    @Override
    public BlockHash hash() {
      return block.hash();
    }

    @Override
    public Optional<Block.Registered> upgrade() {
      return Optional.of(block);
    }

    @Override
    public void drop() {
      block.release();
    }
  }
}
