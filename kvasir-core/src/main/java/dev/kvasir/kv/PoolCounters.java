package dev.kvasir.kv;

/** Counts what a pool does. */
final class PoolCounters {
  long allocated;
  long refused;
  long evicted;
  long registered;
  long duplicates;
  long asked;
  long matched;

  PoolStats stats() {
    return new PoolStats(allocated, refused, evicted, registered, duplicates, asked, matched);
  }
}
