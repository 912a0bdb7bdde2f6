package dev.kvasir.cli.tier;

import dev.kvasir.cli.process.Unavailable;
import dev.kvasir.net.PrivateFiles;
import dev.kvasir.net.machine.Bytes;
import dev.kvasir.tierd.settings.TierSettings;
import dev.kvasir.tools.doctor.MachineMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileStore;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/** The room on this machine for what the tiers are to hold; it is taken when an engine connects. */
final class TierRoom {
  private static final int PROBE_BYTES = 4096;

  private TierRoom() {}

  /** Refuses what this machine can never hold, and a folder that cannot be written to. */
  static void require(TierSettings settings) throws IOException {
    long memory = MachineMemory.read().totalBytes();
    if (settings.hostBytes() > memory) {
      throw new Unavailable(
          "host-bytes %s: this machine has memory of %s; lower it"
              .formatted(Bytes.text(settings.hostBytes()), Bytes.text(memory)));
    }
    if (settings.diskBytes() == 0) return;
    var store = writable(settings.folder());
    if (settings.diskBytes() > store.getTotalSpace()) {
      throw new Unavailable(
          "disk-bytes %s: the file system of %s has %s; lower it, or choose another folder"
              .formatted(
                  Bytes.text(settings.diskBytes()),
                  settings.folder(),
                  Bytes.text(store.getTotalSpace())));
    }
  }

  private static FileStore writable(Path folder) throws IOException {
    try {
      PrivateFiles.folder(folder);
      var probe = Files.createTempFile(folder, ".kvasir-", ".probe");
      try (var file = FileChannel.open(probe, StandardOpenOption.WRITE)) {
        file.write(ByteBuffer.allocate(PROBE_BYTES));
        file.force(true);
      } finally {
        Files.delete(probe);
      }
      return Files.getFileStore(folder);
    } catch (IOException refusal) {
      throw new FileSystemException(
          folder.toString(), null, "no blocks can be written there; choose another --folder");
    }
  }

  /** Returns a warning for each part that does not fit now, and may when an engine connects. */
  static List<String> warnings(TierSettings settings) throws IOException {
    var warnings = new ArrayList<String>();
    long available = MachineMemory.read().availableBytes();
    if (settings.hostBytes() > available) {
      warnings.add(
          "host-bytes %s, and %s of memory are free now"
              .formatted(Bytes.text(settings.hostBytes()), Bytes.text(available)));
    }
    var folder = settings.folder();
    if (settings.diskBytes() > 0 && Files.isDirectory(folder)) {
      long usable = Files.getFileStore(folder).getUsableSpace();
      if (settings.diskBytes() > usable) {
        warnings.add(
            "disk-bytes %s, and %s are free in the file system of %s; what is kept there counts"
                    .formatted(Bytes.text(settings.diskBytes()), Bytes.text(usable), folder)
                + " as used");
      }
    }
    if (settings.bufferFolders().stream().noneMatch(Files::isWritable)) {
      warnings.add(
          "none of the buffer folders %s can be written to; engines share their buffers there"
              .formatted(settings.bufferFolders()));
    }
    return warnings;
  }
}
