package dev.kvasir.tiers.host;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Blocks whose bytes can be told from those of every other block, and from any mixture. */
public final class TestBlocks {
  private TestBlocks() {}

  public static TokenBlock block(long key) {
    return TokenBlock.named(hash(key), null, 0);
  }

  public static BlockHash hash(long key) {
    long mixed = mix(key);
    return new BlockHash(key, mixed, mix(mixed), mix(mixed + 1));
  }

  /** Fills the slot with the bytes of that version of the block. */
  public static void fill(MemorySegment slot, long key, long version) {
    long words = slot.byteSize() / Long.BYTES;
    slot.setAtIndex(ValueLayout.JAVA_LONG, 0, version);
    long seed = mix(key * 1_000_003 + version);
    for (long i = 1; i < words; i++) slot.setAtIndex(ValueLayout.JAVA_LONG, i, seed * (i | 1) + i);
  }

  /** Checks that the slot has the exact bytes of some version of the block, and says which. */
  public static long check(MemorySegment slot, long key) {
    long version = slot.getAtIndex(ValueLayout.JAVA_LONG, 0);
    long words = slot.byteSize() / Long.BYTES;
    long seed = mix(key * 1_000_003 + version);
    for (long i = 1; i < words; i++) {
      long found = slot.getAtIndex(ValueLayout.JAVA_LONG, i);
      if (found != seed * (i | 1) + i) {
        assertThat(found).as("word %s of block %s", i, key).isEqualTo(seed * (i | 1) + i);
      }
    }
    return version;
  }

  private static long mix(long value) {
    long z = (value + 0x9e3779b97f4a7c15L) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 30)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }
}
