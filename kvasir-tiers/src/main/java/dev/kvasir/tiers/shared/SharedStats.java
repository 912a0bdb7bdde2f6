package dev.kvasir.tiers.shared;

import dev.kvasir.kv.event.Tier;
import dev.kvasir.offload.state.StoreTally;

/**
 * Counts of what a shared store has done since it was opened.
 *
 * @param stored blocks sent and answered as copied
 * @param present blocks that were there already, and answered as copied
 * @param busy stores of a block that another one was just sending
 * @param loaded blocks fetched, found right and answered as copied
 * @param missing loads of a block that was not there
 * @param damaged loads of something that was not the block
 * @param failed copies that could not be made
 * @param refused copies that were not begun, since too many waited or a slot was in use
 * @param bytesSent bytes of blocks sent
 * @param bytesFetched bytes of blocks fetched and found right
 * @param queued copies that wait or are being made
 * @param looks look-ups asked for
 * @param looksRefused of these, answered as unknown since too many waited
 * @param looksFailed of these, not answered by the server
 * @param looksWaiting look-ups that wait for others
 */
public record SharedStats(
    long stored,
    long present,
    long busy,
    long loaded,
    long missing,
    long damaged,
    long failed,
    long refused,
    long bytesSent,
    long bytesFetched,
    int queued,
    long looks,
    long looksRefused,
    long looksFailed,
    int looksWaiting) {
  /** The same as figures that every kind of store has; what was there already counts as stored. */
  public StoreTally tally(Tier tier) {
    return new StoreTally(
        tier,
        stored + present,
        loaded,
        damaged,
        failed,
        refused,
        queued,
        busy,
        looks,
        looksRefused,
        looksFailed);
  }
}
