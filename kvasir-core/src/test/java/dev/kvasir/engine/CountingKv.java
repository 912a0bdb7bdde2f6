package dev.kvasir.engine;

import dev.kvasir.Nullable;
import dev.kvasir.kv.KvChanges;
import dev.kvasir.kv.KvMatch;
import dev.kvasir.kv.KvSpan;
import dev.kvasir.kv.ResettableKv;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.BlockNames;
import java.util.List;

/** KV memory that counts how often it is asked what is cached. */
final class CountingKv implements ResettableKv {
  /** Choice of what the memory reports. */
  enum Reports {
    CHANGES,
    NOTHING
  }

  private final ResettableKv kv;
  private final Reports reports;
  private long matches;

  CountingKv(ResettableKv kv, Reports reports) {
    this.kv = kv;
    this.reports = reports;
  }

  /** Returns the number of look-ups since the last call. */
  long drainMatches() {
    long count = matches;
    matches = 0;
    return count;
  }

  @Override
  public KvMatch match(BlockNames names, int blocksMax) {
    matches++;
    return kv.match(names, blocksMax);
  }

  @Override
  public boolean watch(KvChanges changes) {
    return reports == Reports.CHANGES && kv.watch(changes);
  }

  @Override
  public int blockTokens() {
    return kv.blockTokens();
  }

  @Override
  public int total() {
    return kv.total();
  }

  @Override
  public int available() {
    return kv.available();
  }

  @Override
  public boolean has(BlockHash name) {
    return kv.has(name);
  }

  @Override
  public @Nullable KvSpan open(BlockNames names, int blocks) {
    return kv.open(names, blocks);
  }

  @Override
  public int reclaimable(List<KvSpan> spans) {
    return kv.reclaimable(spans);
  }

  @Override
  public Fetching fetching() {
    return kv.fetching();
  }

  @Override
  public int clear() {
    return kv.clear();
  }

  @Override
  public long hits() {
    return kv.hits();
  }

  @Override
  public long misses() {
    return kv.misses();
  }
}
