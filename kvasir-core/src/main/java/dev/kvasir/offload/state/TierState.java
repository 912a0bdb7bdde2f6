package dev.kvasir.offload.state;

/**
 * One tier of memory as the dashboard shows it.
 *
 * @param name device, host, disk, remote or object; with the instance's where each has its own
 * @param blocksTotal room; 0 where there is no limit
 * @param bytes what the blocks take there
 * @param hits blocks that requests found there
 * @param bytesIn written to it since the start
 * @param bytesOut read from it since the start
 */
public record TierState(
    String name,
    long blocksUsed,
    long blocksTotal,
    long bytes,
    long hits,
    long bytesIn,
    long bytesOut) {
  public TierState {
    if (blocksUsed < 0 || blocksTotal < 0 || (blocksTotal > 0 && blocksUsed > blocksTotal)) {
      throw new IllegalArgumentException(
          name + " uses " + blocksUsed + " of " + blocksTotal + " blocks");
    }
  }
}
