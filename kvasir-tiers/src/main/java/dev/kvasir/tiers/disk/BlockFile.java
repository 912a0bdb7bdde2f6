package dev.kvasir.tiers.disk;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * One open file of a disk tier; every method may be called from any thread.
 *
 * <p>A port: the real one, and one of the tests that loses, tears and refuses.
 */
public interface BlockFile extends AutoCloseable {
  FileAccess access();

  long size() throws IOException;

  /** Writes all that remains in the buffer. */
  void write(long position, ByteBuffer from) throws IOException;

  /** Fills the buffer as far as the file goes. */
  void read(long position, ByteBuffer into) throws IOException;

  /**
   * Has the system set these bytes aside for the file, which grows to hold them; they read as
   * zeros.
   *
   * @return whether it could: if not, nothing has changed, and writing zeros does the same slowly
   */
  default boolean reserve(long from, long to) throws IOException {
    return false;
  }

  /** Cuts the file off. */
  void truncate(long size) throws IOException;

  /** Returns once everything written is on the device. */
  void sync() throws IOException;

  @Override
  void close() throws IOException;
}
