package dev.kvasir.engine;

/**
 * What an engine has to do right now.
 *
 * @param waiting sequences that are not in the batch yet
 * @param running sequences in the batch
 * @param blocksUsed blocks that somebody holds
 * @param preemptions how often a sequence had to make room so far
 * @param steps forward passes so far
 * @param planning how their plans were come by
 */
public record EngineLoad(
    int waiting,
    int running,
    int blocksUsed,
    int blocks,
    double hitRate,
    long preemptions,
    long steps,
    PlanningStats planning) {
  public double kvUtilisation() {
    return (double) blocksUsed / blocks;
  }
}
