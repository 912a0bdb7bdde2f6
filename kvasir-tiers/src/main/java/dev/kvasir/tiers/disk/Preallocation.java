package dev.kvasir.tiers.disk;

import dev.kvasir.Nullable;
import dev.kvasir.tiers.host.BlockSpan;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.Locale;

/**
 * Gives the file of the blocks its full size before the first block, so that the disk cannot run
 * full later.
 *
 * <p>The system sets the room aside where it can, which takes no time however large the tier is;
 * else zeros are written.
 */
public final class Preallocation {
  private static final int CHUNK_BYTES = 1 << 20;

  private Preallocation() {}

  /** Makes the file that large: cuts it off, or fills it up if there is room. */
  public static void fit(DiskFolder folder, BlockFile file, long bytes) throws IOException {
    long before = file.size();
    if (before == bytes) return;
    if (before > bytes) {
      file.truncate(bytes);
    } else {
      long missing = bytes - before;
      long usable = folder.usableBytes();
      if (missing > usable) throw new IOException(refusal(missing, usable, null));
      try {
        long from = before - before % BlockSpan.PAGE_BYTES;
        if (!file.reserve(from, bytes)) fill(file, from, bytes);
      } catch (IOException e) {
        giveBack(file, before, e);
        throw new IOException(refusal(missing, folder.usableBytes(), e.getMessage()), e);
      }
    }
    file.sync();
    folder.sync();
  }

  private static String refusal(long missing, long usable, @Nullable String cause) {
    return String.format(
        Locale.ROOT,
        "the disk tier needs %,d bytes more, and %,d are free: make it smaller or make room%s",
        missing,
        usable,
        cause == null ? "" : " (" + cause + ")");
  }

  private static void fill(BlockFile file, long from, long to) throws IOException {
    try (var arena = Arena.ofShared()) {
      var zeros = arena.allocate(CHUNK_BYTES, BlockSpan.PAGE_BYTES);
      for (long at = from; at < to; at += CHUNK_BYTES) {
        long length = Math.min(CHUNK_BYTES, to - at);
        file.write(at, zeros.asSlice(0, length).asByteBuffer());
      }
    }
  }

  /** A file that is half made must not fill the disk for others. */
  private static void giveBack(BlockFile file, long bytes, IOException cause) {
    try {
      file.truncate(bytes);
    } catch (IOException e) {
      cause.addSuppressed(e);
    }
  }
}
