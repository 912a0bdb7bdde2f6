package dev.kvasir.live.store;

import dev.kvasir.kv.event.Tier;

/**
 * What the store of a tier has done since it was opened, whatever kind it is.
 *
 * @param stored blocks answered as stored
 * @param loaded blocks answered as loaded
 * @param damaged loads of something that was not the block
 * @param failed copies that could not be made
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
    int queued,
    long busy,
    long looks,
    long looksRefused,
    long looksFailed) {
  public static StoreTally of(Tier tier, DiskStats stats) {
    return new StoreTally(
        tier,
        stats.stored(),
        stats.loaded(),
        stats.damaged(),
        stats.failed(),
        stats.queued(),
        0,
        0,
        0,
        0);
  }

  /** Blocks that were there already count as stored. */
  public static StoreTally of(Tier tier, SharedStats stats) {
    return new StoreTally(
        tier,
        stats.stored() + stats.present(),
        stats.loaded(),
        stats.damaged(),
        stats.failed(),
        stats.queued(),
        stats.busy(),
        stats.looks(),
        stats.looksRefused(),
        stats.looksFailed());
  }
}
