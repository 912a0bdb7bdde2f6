package dev.kvasir.sim.blis;

import dev.kvasir.kv.CachedBlocks;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.BlockNames;
import java.util.ArrayList;
import java.util.List;

/** The blocks of one sequence in a {@link BlisStore}. */
final class BlisSpan {
  private final BlisStore store;
  private final BlockNames names;
  private final List<Integer> blocks = new ArrayList<>();

  /** Tokens before the first block: those of a prompt that was cached whole and not held. */
  private int unheld;

  /** Position at which the output begins. */
  private int promptTokens = Integer.MAX_VALUE;

  private int end;
  private int cached;

  BlisSpan(BlisStore store, BlockNames names) {
    this.store = store;
    this.names = names;
  }

  void add(int block) {
    blocks.add(block);
    cached++;
    end += store.blockTokens();
  }

  void endPromptAt(int tokens) {
    promptTokens = tokens;
  }

  /** Returns those of its first blocks that needed no computing. */
  CachedBlocks cached() {
    return CachedBlocks.onDevice(cached);
  }

  /** Takes what is missing for all tokens before that position. */
  void reserve(int to) {
    while (end < to) {
      boolean isNew = blocks.isEmpty() || store.room(blocks.getLast()) == 0;
      if (isNew) blocks.add(store.allocate());
      int block = blocks.getLast();
      int more = Math.min(to - end, store.room(block));
      store.fill(block, more);
      end += more;
      // A block of output that one token fills is never known to anybody.
      if (store.room(block) == 0 && !(isNew && end > promptTokens)) {
        store.name(block, name(blocks.size() - 1));
      }
    }
  }

  /**
   * Returns the name of a block; one after a prompt that is not held is named as if it came after
   * nothing.
   */
  private BlockHash name(int index) {
    var name = names.name(unheld / store.blockTokens() + index);
    if (unheld == 0) return name;
    return new BlockHash(~name.first(), name.second(), name.third(), name.fourth());
  }

  /** All tokens before that position are computed. */
  void fill(int computed) {
    if (computed > end && blocks.isEmpty()) {
      unheld = computed;
      end = computed;
    } else if (computed > end) {
      // Tokens that fit into the last block are counted only where a block ends.
      reserve(computed);
    }
  }

  /** One token more before the end, though nobody will use it. */
  boolean addLast(int computed) {
    fill(computed);
    boolean fits = !blocks.isEmpty() && store.room(blocks.getLast()) > 0;
    if (!fits && store.available() == 0) return false;
    reserve(computed + 1);
    return true;
  }

  void release() {
    for (int i = blocks.size() - 1; i >= 0; i--) store.release(blocks.get(i));
    blocks.clear();
  }
}
