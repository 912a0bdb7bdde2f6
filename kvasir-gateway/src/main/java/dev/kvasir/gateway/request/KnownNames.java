package dev.kvasir.gateway.request;

import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.BlockHasher;
import dev.kvasir.text.KnownStarts;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/**
 * The names of blocks of prompts that came lately, so that a prompt that begins like another is
 * hashed only from where they part.
 *
 * <p>Every so many tokens a prompt is known by its model, its tenant's salt and a hash of all
 * tokens until there. What is found is compared token by token. Safe for use by several threads.
 */
final class KnownNames {
  @SuppressWarnings("ArrayRecordComponent") // never changed, never compared
  private record Known(int[] tokens, List<BlockHash> blocks) {}

  /** Key by which a prompt is looked for. */
  private record Key(String model, String salt, long hash) {}

  /** Tokens between two places by which a prompt is known. */
  private static final int STEP = 256;

  private final KnownStarts<Key, Known> byStart;
  private final LongAdder reused = new LongAdder();

  /** Keeps about so many tokens with their names. */
  KnownNames(long tokensMax) {
    this.byStart = new KnownStarts<>(tokensMax);
  }

  /** The names of the first full blocks, as the hasher gives them; not to be changed. */
  List<BlockHash> names(int[] prompt, BlockHasher hasher, int blockTokens, int blocksMax) {
    int count = Math.min(blocksMax, prompt.length / blockTokens);
    if (count == 0) return List.of();
    var keys = keys(hasher, prompt);
    var known = byStart.find(keys);
    var blocks = new ArrayList<BlockHash>(count);
    if (known != null) {
      // A hash of tokens is no proof: they may part at once.
      int common = Arrays.mismatch(known.tokens, prompt);
      int same = common < 0 ? count : Math.min(count, common / blockTokens);
      same = Math.min(same, known.blocks.size());
      reused.add(same);
      if (same == known.blocks.size() && same == count) return known.blocks;
      blocks.addAll(known.blocks.subList(0, same));
    }
    for (int block = blocks.size(); block < count; block++) {
      int from = block * blockTokens;
      var parent = block == 0 ? null : blocks.get(block - 1);
      blocks.add(hasher.hash(parent, prompt, from, from + blockTokens, List.of()));
    }
    var names = List.copyOf(blocks);
    byStart.keep(keys, new Known(prompt, names), prompt.length);
    return names;
  }

  /** Returns the number of blocks that were not hashed. */
  long reused() {
    return reused.sum();
  }

  private static List<Key> keys(BlockHasher hasher, int[] prompt) {
    var keys = new ArrayList<Key>(prompt.length / STEP);
    long hash = 1;
    for (int end = STEP; end <= prompt.length; end += STEP) {
      for (int at = end - STEP; at < end; at++) hash = (hash ^ prompt[at]) * 0x9E3779B97F4A7C15L;
      hash ^= hash >>> 32;
      keys.add(new Key(hasher.model(), hasher.salt(), hash));
    }
    return keys;
  }
}
