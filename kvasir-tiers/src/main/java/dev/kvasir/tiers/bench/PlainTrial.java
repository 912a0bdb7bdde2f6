package dev.kvasir.tiers.bench;

import dev.kvasir.tiers.bench.TierBench.Rate;
import dev.kvasir.tiers.bench.TierBench.Series;
import dev.kvasir.tiers.disk.BlockFile;
import dev.kvasir.tiers.disk.DiskBlockFile;
import dev.kvasir.tiers.disk.FileAccess;
import dev.kvasir.tiers.disk.Preallocation;
import dev.kvasir.tiers.disk.RealFolder;
import dev.kvasir.tiers.host.HostMemory;
import java.io.IOException;
import java.util.List;

/** Plain sequential I/O by one thread, with direct access if the tier has it. */
final class PlainTrial implements AutoCloseable {
  private static final String NAME = DiskBlockFile.BLOCKS;

  private final long bytes;
  private final int stepBytes;
  private final HostMemory memory;
  private final RealFolder folder;
  private final BlockFile file;
  final Series write = new Series();
  final Series read = new Series();

  PlainTrial(TierTrial.Size size, int stepBytes) throws IOException {
    this.stepBytes = stepBytes;
    this.bytes = size.fileBytes() / stepBytes * stepBytes;
    this.memory = new HostMemory("plain I/O", 1, stepBytes);
    TierTrial.noise(memory);
    this.folder = RealFolder.open(size.folder().resolve("plain"));
    this.file = folder.open(NAME, FileAccess.DIRECT);
    Preallocation.fit(folder, file, bytes);
  }

  /** Writes the file, syncs it, and reads it. */
  void round() throws IOException {
    long began = System.nanoTime();
    for (long at = 0; at < bytes; at += stepBytes) {
      long before = System.nanoTime();
      file.write(at, memory.slot(0).asByteBuffer());
      write.one(System.nanoTime() - before);
    }
    file.sync();
    write.round(bytes, System.nanoTime() - began);
    began = System.nanoTime();
    for (long at = 0; at < bytes; at += stepBytes) {
      long before = System.nanoTime();
      file.read(at, memory.slot(0).asByteBuffer());
      read.one(System.nanoTime() - before);
    }
    read.round(bytes, System.nanoTime() - began);
  }

  void forget() {
    write.forget();
    read.forget();
  }

  List<Rate> rates() {
    return List.of(write.rate("plain write", stepBytes), read.rate("plain read", stepBytes));
  }

  @Override
  public void close() throws IOException {
    memory.close();
    try (folder;
        file) {}
  }
}
