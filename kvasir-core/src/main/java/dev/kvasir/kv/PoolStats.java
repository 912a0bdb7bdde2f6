package dev.kvasir.kv;

/**
 * What a pool has done since it was made.
 *
 * @param allocated blocks handed out
 * @param refused allocations that found too few blocks
 * @param evicted cached blocks that made room
 * @param registered blocks registered, duplicates included
 * @param duplicates blocks registered though a copy was here
 * @param asked blocks looked for
 * @param matched blocks looked for and found
 */
public record PoolStats(
    long allocated,
    long refused,
    long evicted,
    long registered,
    long duplicates,
    long asked,
    long matched) {}
