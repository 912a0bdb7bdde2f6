package dev.kvasir.tiers.disk;

import java.io.IOException;
import java.util.List;

/** A folder on a file system that knows no direct access. */
record BufferedFolder(DiskFolder inner) implements DiskFolder {
  @Override
  public List<String> names() throws IOException {
    return inner.names();
  }

  @Override
  public BlockFile open(String name, FileAccess wanted) throws IOException {
    return inner.open(name, FileAccess.BUFFERED);
  }

  @Override
  public void delete(String name) throws IOException {
    inner.delete(name);
  }

  @Override
  public void rename(String from, String to) throws IOException {
    inner.rename(from, to);
  }

  @Override
  public void sync() throws IOException {
    inner.sync();
  }

  @Override
  public long usableBytes() throws IOException {
    return inner.usableBytes();
  }

  @Override
  public void close() throws IOException {
    inner.close();
  }
}
