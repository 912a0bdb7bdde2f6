package dev.kvasir.offload;

/**
 * What has become of the blocks of all transfers that ended.
 *
 * @param refused blocks that were not accepted because too many waited
 */
public record PipelineTotals(
    long completed, long failed, long evicted, long filtered, long cancelled, long refused) {}
