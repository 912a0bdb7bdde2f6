package dev.kvasir.tiers.disk;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/** A file of the operating system. */
record RealFile(Path path, FileChannel channel, FileAccess access) implements BlockFile {
  @Override
  public long size() throws IOException {
    return channel.size();
  }

  @Override
  public void write(long position, ByteBuffer from) throws IOException {
    int start = from.position();
    while (from.hasRemaining()) {
      if (channel.write(from, position + from.position() - start) == 0) {
        throw new EOFException("no more bytes were taken at " + from.position());
      }
    }
  }

  @Override
  public void read(long position, ByteBuffer into) throws IOException {
    int start = into.position();
    while (into.hasRemaining()) {
      if (channel.read(into, position + into.position() - start) < 0) return;
    }
  }

  @Override
  public boolean reserve(long from, long to) throws IOException {
    return SystemCalls.fallocate(path, from, to - from);
  }

  @Override
  public void truncate(long size) throws IOException {
    channel.truncate(size);
  }

  @Override
  public void sync() throws IOException {
    channel.force(false);
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
