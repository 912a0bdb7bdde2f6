package dev.kvasir.live.store;

/**
 * Where the bytes of a block lie, in host memory and on disk alike: its own, rounded up to a page,
 * and behind them one page for what the disk must know of it, so that both go in one write.
 */
public record BlockSpan(int blockBytes) {
  /** What direct I/O wants everything aligned to. */
  public static final int PAGE_BYTES = 4096;

  public static final int BLOCK_BYTES_MAX = 1 << 30;

  public BlockSpan {
    if (blockBytes < 1 || blockBytes > BLOCK_BYTES_MAX) {
      throw new IllegalArgumentException(
          "blocks of " + blockBytes + " bytes, expected 1 to " + BLOCK_BYTES_MAX);
    }
  }

  /** Where the page behind the bytes begins. */
  int pageAt() {
    return (blockBytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
  }

  /** How far one slot begins after the one before it. */
  public int strideBytes() {
    return pageAt() + PAGE_BYTES;
  }

  /** Where the slot begins. */
  public long at(int slot) {
    return (long) slot * strideBytes();
  }
}
