package dev.kvasir.offload.state;

import dev.kvasir.kv.event.Tier;

/**
 * Counts of what the store of a tier has done since it was opened, whatever kind it is.
 *
 * @param stored blocks answered as stored
 * @param loaded blocks answered as loaded
 * @param damaged loads of something that was not the block
 * @param failed copies that could not be made
 * @param refused copies that were not begun, since too many waited or a slot was in use
 * @param queued copies that wait or are being made
 * @param busy stores of a block that another was storing
 * @param looks look-ups of what others have stored; none on a disk
 * @param looksRefused of these, answered as unknown since too many waited
 * @param looksFailed of these, not answered by the server
 */
public record StoreTally(
    Tier tier,
    long stored,
    long loaded,
    long damaged,
    long failed,
    long refused,
    int queued,
    long busy,
    long looks,
    long looksRefused,
    long looksFailed) {}
