package dev.kvasir.sim.cache;

/** Blocks that prompts referred to, and how many of them a cache had. */
public record CacheFound(long references, long hits) {
  public double hitRate() {
    return references == 0 ? 0 : (double) hits / references;
  }
}
