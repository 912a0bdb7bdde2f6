package dev.kvasir.tiers.disk;

import dev.kvasir.kv.event.Tier;
import dev.kvasir.offload.state.StoreTally;

/**
 * Figures of what a disk store has done since it was opened, and of what it holds now.
 *
 * @param stored blocks written and answered as copied
 * @param loaded blocks read, found right and answered as copied
 * @param damaged loads of a block that was not there with its exact bytes
 * @param failed copies that could not be made
 * @param refused copies that were not begun, since too many waited or a slot was in use
 * @param quarantined slots that held a damaged block and have not been written since
 * @param checkpoints how often the index was written anew
 * @param bytesWritten bytes of blocks written
 * @param bytesRead bytes of blocks read and found right
 * @param fileBytes the size of the file of blocks, which does not change
 * @param indexBytes the size of the index
 * @param indexBytesMax what the index never grows beyond
 * @param queued copies that wait or are being made
 */
public record DiskStats(
    long stored,
    long loaded,
    long damaged,
    long failed,
    long refused,
    int quarantined,
    long checkpoints,
    long bytesWritten,
    long bytesRead,
    long fileBytes,
    long indexBytes,
    long indexBytesMax,
    int queued) {
  /** The same as figures that every kind of store has. */
  public StoreTally tally(Tier tier) {
    return new StoreTally(tier, stored, loaded, damaged, failed, refused, queued, 0, 0, 0, 0);
  }
}
