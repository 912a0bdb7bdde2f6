package dev.kvasir.tiers.disk;

import java.io.IOException;
import java.util.List;

/** The folder of a disk tier, held by this process alone; the other half of the port. */
interface DiskFolder extends AutoCloseable {
  /** The names of what is in it, in order, but for the lock. */
  List<String> names() throws IOException;

  /** Opens a file, made if it is not there; whether direct access is to be had shows then. */
  BlockFile open(String name, FileAccess wanted) throws IOException;

  void delete(String name) throws IOException;

  /** Puts a file in the place of another, in one step. */
  void rename(String from, String to) throws IOException;

  /** Returns once everything made, renamed and deleted here is on the device. */
  void sync() throws IOException;

  /** Returns how many more bytes this process may write here. */
  long usableBytes() throws IOException;

  @Override
  void close() throws IOException;
}
