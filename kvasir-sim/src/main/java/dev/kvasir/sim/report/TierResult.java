package dev.kvasir.sim.report;

import dev.kvasir.kv.event.Tier;

/**
 * What one tier of an instance did.
 *
 * @param blocks how many it holds
 * @param stored blocks copied into it from above
 * @param loaded blocks copied from it to above
 * @param evicted cached blocks that made room
 * @param thrashed blocks loaded within a millisecond after they were stored
 * @param busyDownMicros how long the way down to it was busy
 * @param busyUpMicros how long the way up from it was busy
 */
public record TierResult(
    Tier tier,
    int blocks,
    long stored,
    long loaded,
    long evicted,
    long thrashed,
    long busyDownMicros,
    long busyUpMicros) {}
