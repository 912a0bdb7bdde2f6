package dev.kvasir.gpu.tier;

import dev.kvasir.tiers.host.BlockSpan;

/**
 * The layout of blocks in the memory of a GPU: each block in one piece, or each of its parts, such
 * as the layers, in a separate region. On the host a block is always one piece, part after part.
 *
 * @param blocks how many slots there are
 * @param parts how many pieces a block consists of
 * @param partBytes the bytes of each
 */
public record DeviceLayout(int blocks, int parts, int partBytes) {
  public DeviceLayout {
    long blockBytes = (long) parts * partBytes;
    if (blocks < 1 || parts < 1 || partBytes < 1 || blockBytes > BlockSpan.BLOCK_BYTES_MAX) {
      throw new IllegalArgumentException(
          blocks + " blocks of " + parts + " parts of " + partBytes + " bytes");
    }
    if (parts > DeviceLane.PIECES_MAX) {
      throw new IllegalArgumentException(parts + " parts, at most " + DeviceLane.PIECES_MAX);
    }
  }

  /** Each block in one piece. */
  public static DeviceLayout contiguous(int blocks, int blockBytes) {
    return new DeviceLayout(blocks, 1, blockBytes);
  }

  public int blockBytes() {
    return parts * partBytes;
  }

  /** The bytes of one region, which has a part of every block. */
  public long regionBytes() {
    return (long) blocks * partBytes;
  }

  /** Returns where the part of the slot lies in its region. */
  public long at(int slot) {
    return (long) slot * partBytes;
  }
}
