package dev.kvasir.sim.report;

/** Blocks that prompts referred to, and how many of them a cache had. */
public record CacheFound(long references, long hits) {
  public double hitRate() {
    return references == 0 ? 0 : (double) hits / references;
  }
}
