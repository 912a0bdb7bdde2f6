package dev.kvasir.tools.doctor;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

import dev.kvasir.net.machine.Check;
import dev.kvasir.net.machine.Status;
import dev.kvasir.tiers.disk.RealFolder;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.util.LinkedHashMap;

/** Checks whether files can be written and read past the page cache, by trying it. */
final class DirectProbe {
  private static final byte PATTERN = 0x5a;

  private DirectProbe() {}

  /** Outcome of the attempt. */
  private sealed interface Attempt {
    /** A block of that size came back as it was written. */
    record Worked(int blockBytes) implements Attempt {}

    /** The file system does not do it. */
    record Refused(String reason) implements Attempt {}

    /** There is no file to try it with. */
    record Untried() implements Attempt {}
  }

  static Check look(CachePlace place) {
    var details = new LinkedHashMap<String, Object>();
    details.put("fileSystem", place.fileSystem());
    return switch (attempt(place.nearest())) {
      case Attempt.Worked(int blockBytes) -> {
        details.put("works", true);
        details.put("blockBytes", blockBytes);
        yield new Check(
            "direct-io",
            place.inMemory() ? Status.NOTE : Status.OK,
            "O_DIRECT works on " + place.fileSystem() + ", in blocks of " + blockBytes + " bytes",
            place.inMemory()
                ? "no gain there: the file system itself is memory"
                : "the disk tier can bypass the page cache",
            details);
      }
      case Attempt.Refused(String reason) -> {
        details.put("works", false);
        details.put("reason", reason);
        yield new Check(
            "direct-io",
            Status.NOTE,
            "O_DIRECT refused on " + place.fileSystem() + ": " + reason,
            "the disk tier will use buffered I/O; put --cache-dir on a local disk for full speed",
            details);
      }
      case Attempt.Untried() ->
          new Check(
              "direct-io",
              Status.NOTE,
              "not tried: the cache folder cannot be written to",
              "it is tried once there is such a folder",
              details);
    };
  }

  private static Attempt attempt(Path folder) {
    OpenOption direct;
    try {
      direct = RealFolder.directOption();
    } catch (ReflectiveOperationException reducedRuntime) {
      return new Attempt.Refused("this Java lacks it");
    }
    Path file;
    try {
      file = Files.createTempFile(folder, ".kvasir-doctor", ".tmp");
    } catch (IOException unwritable) {
      return new Attempt.Untried();
    }
    try {
      return writeAndRead(file, direct);
    } catch (IOException | UnsupportedOperationException refusal) {
      return new Attempt.Refused(reason(refusal));
    } finally {
      remove(file);
    }
  }

  private static Attempt writeAndRead(Path file, OpenOption direct) throws IOException {
    int blockBytes = Math.toIntExact(Files.getFileStore(file).getBlockSize());
    ByteBuffer block = ByteBuffer.allocateDirect(2 * blockBytes).alignedSlice(blockBytes);
    block.limit(blockBytes);
    try (var channel = FileChannel.open(file, CREATE, READ, WRITE, direct)) {
      while (block.hasRemaining()) {
        block.put(PATTERN);
      }
      int written = channel.write(block.flip(), 0);
      block.clear().limit(blockBytes);
      block.put(0, new byte[blockBytes]);
      int read = channel.read(block, 0);
      return written == blockBytes && read == blockBytes && holdsThePattern(block.flip())
          ? new Attempt.Worked(blockBytes)
          : new Attempt.Refused("wrote " + written + " bytes and read " + read + " others");
    }
  }

  private static boolean holdsThePattern(ByteBuffer block) {
    while (block.hasRemaining()) {
      if (block.get() != PATTERN) {
        return false;
      }
    }
    return true;
  }

  private static String reason(Exception refusal) {
    String message = refusal.getMessage();
    return message == null
        ? refusal.getClass().getSimpleName()
        : message.substring(message.lastIndexOf(": ") < 0 ? 0 : message.lastIndexOf(": ") + 2);
  }

  private static void remove(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException gone) {
      file.toFile().deleteOnExit();
    }
  }
}
