package dev.kvasir.tiers.disk;

import dev.kvasir.tiers.host.BlockSpan;
import dev.kvasir.tiers.host.DiskFormat;
import java.nio.file.Path;

/**
 * Settings of a disk tier.
 *
 * @param folder its own folder, made if it is not there; nothing else may be in it
 * @param blocks how many blocks it holds; the file is that large from the start
 * @param blockBytes how many bytes a block has
 * @param layout a fingerprint of how the bytes of a block are laid out; another one is refused
 * @param ack what is done before a store is answered
 * @param threads how many threads read and write
 * @param queueMax how many loads, and how many stores, may wait or run at a time
 */
public record DiskSettings(
    Path folder, int blocks, int blockBytes, long layout, Ack ack, int threads, int queueMax) {
  public static final int THREADS_USUAL = 4;

  private static final int THREADS_MAX = 64;
  private static final int QUEUE_USUAL = 4096;

  public DiskSettings {
    if (blocks < 1) throw new IllegalArgumentException("disk tier of " + blocks + " blocks");
    if (threads < 1 || threads > THREADS_MAX) {
      throw new IllegalArgumentException(
          "disk tier of " + threads + " threads, expected 1 to " + THREADS_MAX);
    }
    if (queueMax < 1) throw new IllegalArgumentException("disk tier with a queue of " + queueMax);
    var span = new BlockSpan(blockBytes);
    var _ = Math.multiplyExact((long) blocks, span.strideBytes());
  }

  /** The usual settings: answered when stored, four threads, 4096 copies each way. */
  public static DiskSettings of(Path folder, int blocks, int blockBytes) {
    return new DiskSettings(folder, blocks, blockBytes, 0, Ack.STORED, THREADS_USUAL, QUEUE_USUAL);
  }

  public DiskSettings with(Ack ack) {
    return new DiskSettings(folder, blocks, blockBytes, layout, ack, threads, queueMax);
  }

  /** Returns the size of the file of blocks. */
  public long fileBytes() {
    return span().at(blocks);
  }

  BlockSpan span() {
    return new BlockSpan(blockBytes);
  }

  DiskFormat format() {
    return new DiskFormat(blockBytes, layout);
  }
}
