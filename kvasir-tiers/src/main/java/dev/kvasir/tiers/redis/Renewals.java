package dev.kvasir.tiers.redis;

import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Chooses which of the blocks that are read get a new time to live: each at most once in an eighth
 * of it, so that a block that is read often costs no command each time.
 */
final class Renewals {
  private static final int NAMES_MAX = 1 << 16;
  private static final int SHARE = 8;

  private final long paceNanos;
  private final LongSupplier clock;

  /** When blocks were renewed, the oldest first. */
  private final LinkedHashMap<BlockHash, Long> renewed = new LinkedHashMap<>();

  Renewals(Duration ttl, LongSupplier clock) {
    this.paceNanos = ttl.dividedBy(SHARE).toNanos();
    this.clock = clock;
  }

  /** Those that are due; they count as renewed from now on. */
  synchronized List<TokenBlock> due(List<TokenBlock> blocks) {
    long now = clock.getAsLong();
    forget(now);
    var due = new ArrayList<TokenBlock>();
    for (var block : blocks) {
      if (renewed.putIfAbsent(block.hash(), now) == null) due.add(block);
    }
    return due;
  }

  private void forget(long now) {
    Iterator<Long> oldest = renewed.values().iterator();
    while (oldest.hasNext()) {
      boolean isOver = now - oldest.next() >= paceNanos;
      if (!isOver && renewed.size() < NAMES_MAX) return;
      oldest.remove();
    }
  }
}
