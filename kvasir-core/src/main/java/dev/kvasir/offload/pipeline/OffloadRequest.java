package dev.kvasir.offload.pipeline;

import dev.kvasir.kv.Block;
import dev.kvasir.kv.WeakBlock;
import java.util.List;

/**
 * Blocks that somebody wants moved down one tier.
 *
 * @param blocks what to move, in the order of the chain
 * @param precondition what must be over before the blocks may be read
 * @param priority higher goes first, equal ones first come first served
 */
public record OffloadRequest(List<SourceBlock> blocks, Precondition precondition, int priority) {
  /** The priority of blocks that were used again; others have 0. */
  public static final int USED_AGAIN = 1;

  public OffloadRequest {
    blocks = List.copyOf(blocks);
    if (blocks.isEmpty()) throw new IllegalArgumentException("no blocks to offload");
  }

  /** Blocks that may be evicted while they wait. */
  public static OffloadRequest weak(List<WeakBlock> blocks) {
    return of(blocks.stream().map(SourceBlock.Weak::new).toList());
  }

  /** Blocks that are held while they wait; the holds pass to the pipeline that accepts them. */
  public static OffloadRequest strong(List<Block.Registered> blocks) {
    return of(blocks.stream().map(SourceBlock.Strong::new).toList());
  }

  private static OffloadRequest of(List<? extends SourceBlock> blocks) {
    return new OffloadRequest(List.copyOf(blocks), Precondition.met(), 0);
  }

  /** The first blocks of it. */
  OffloadRequest first(int count) {
    return count == blocks.size()
        ? this
        : new OffloadRequest(blocks.subList(0, count), precondition, priority);
  }

  public OffloadRequest after(Precondition precondition) {
    return new OffloadRequest(blocks, precondition, priority);
  }

  public OffloadRequest withPriority(int priority) {
    return new OffloadRequest(blocks, precondition, priority);
  }
}
