package dev.kvasir.router.index;

import dev.kvasir.Nullable;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.BlockHasher;
import java.util.List;

/**
 * All blocks of an engine as one index knows them, for another one that takes them over.
 *
 * @param groups of layers, in the order in which they were heard of
 * @param grain as {@link BlockUnits.Target#grain} is told
 * @param blocks those first that were heard of last
 * @param <K> what the engine calls a block
 */
public record UnitImage<K>(List<BlockUnits.Group> groups, int grain, List<Saved<K>> blocks) {
  /**
   * One block.
   *
   * @param parent the place of the block before it in the image; -1 where it has none there
   * @param before the unit before the first one that ends in it; null for the first of a prompt
   * @param units those that end in it
   * @param tail its tokens behind the last border of units
   * @param tiers for each group its tiers as bits
   * @param copies for each group how many times the engine has it in its memory
   */
  @SuppressWarnings("ArrayRecordComponent") // handed on at once, never compared
  public record Saved<K>(
      K key,
      int parent,
      BlockHasher hasher,
      int length,
      int end,
      @Nullable BlockHash before,
      BlockHash[] units,
      int[] tail,
      byte[] tiers,
      int[] copies) {
    public static final int NO_PARENT = -1;

    public Saved {
      boolean isSound = parent >= NO_PARENT && length > 0 && end >= length;
      if (!isSound || tiers.length != copies.length || tiers.length > BlockUnits.GROUPS_MAX) {
        throw new IllegalArgumentException(
            "block of %d tokens up to %d behind block %d".formatted(length, end, parent));
      }
    }

    public int start() {
      return end - length;
    }
  }

  public UnitImage {
    groups = List.copyOf(groups);
    blocks = List.copyOf(blocks);
    if (groups.size() > BlockUnits.GROUPS_MAX || grain < 0) {
      throw new IllegalArgumentException(groups.size() + " groups, steps of " + grain);
    }
    for (var block : blocks) {
      if (block.parent() >= blocks.size()) {
        throw new IllegalArgumentException("a block behind block " + block.parent());
      }
    }
  }
}
