package dev.kvasir.gpu.tier;

/**
 * What a device store has done so far.
 *
 * @param runs chunks that went as plain copies, and so on for each way
 */
public record DeviceStats(
    long blocksStored,
    long blocksLoaded,
    long blocksFailed,
    long runs,
    long staged,
    long batch,
    long direct) {}
