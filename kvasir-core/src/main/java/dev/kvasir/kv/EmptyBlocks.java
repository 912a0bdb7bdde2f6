package dev.kvasir.kv;

import java.util.AbstractList;
import java.util.RandomAccess;

/**
 * The blocks of one allocation as slot numbers. A handle is created when it is asked for.
 *
 * <p>Two handles of one block become invalid together.
 */
final class EmptyBlocks extends AbstractList<Block.Empty> implements RandomAccess {
  private final BlockPool pool;

  /** For each block its turn in the upper half and its slot in the lower. */
  private final long[] blocks;

  EmptyBlocks(BlockPool pool, int count) {
    this.pool = pool;
    this.blocks = new long[count];
  }

  void put(int index, int slot) {
    blocks[index] = (long) pool.turn(slot) << Integer.SIZE | slot;
  }

  int slot(int index) {
    return (int) blocks[index];
  }

  @Override
  public Block.Empty get(int index) {
    long block = blocks[index];
    return new Block.Empty(pool, (int) block, (int) (block >>> Integer.SIZE));
  }

  @Override
  public int size() {
    return blocks.length;
  }
}
