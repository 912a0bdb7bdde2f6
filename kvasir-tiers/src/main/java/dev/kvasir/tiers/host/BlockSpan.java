package dev.kvasir.tiers.host;

/**
 * Layout of a block in host memory and on disk alike: its own bytes, rounded up to a page, and
 * behind them one page for what the disk must know of it, so that both go in one write.
 */
public record BlockSpan(int blockBytes) {
  /** Alignment that direct I/O requires of everything. */
  public static final int PAGE_BYTES = 4096;

  public static final int BLOCK_BYTES_MAX = 1 << 30;

  public BlockSpan {
    if (blockBytes < 1 || blockBytes > BLOCK_BYTES_MAX) {
      throw new IllegalArgumentException(
          "blocks of " + blockBytes + " bytes, expected 1 to " + BLOCK_BYTES_MAX);
    }
  }

  /** Returns where the page behind the bytes begins. */
  int pageAt() {
    return (blockBytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
  }

  /** Returns the distance from the start of one slot to the start of the next. */
  public int strideBytes() {
    return pageAt() + PAGE_BYTES;
  }

  /** Returns where the slot begins. */
  public long at(int slot) {
    return (long) slot * strideBytes();
  }
}
