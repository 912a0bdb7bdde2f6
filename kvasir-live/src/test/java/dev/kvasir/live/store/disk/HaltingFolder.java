package dev.kvasir.live.store.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A folder whose process comes to a sudden end at a named point: before, in the middle of or after
 * an operation on one of its files, the so-manieth time.
 */
final class HaltingFolder implements DiskFolder {
  /** Where a process can be halted. */
  static final List<String> POINTS =
      List.of(
          "write blocks.kv before",
          "write blocks.kv half",
          "write blocks.kv after",
          "write index.log before",
          "write index.log half",
          "write index.log after",
          "sync blocks.kv before",
          "sync blocks.kv after",
          "sync index.log before",
          "sync index.log after",
          "open index.new after",
          "write index.new before",
          "write index.new half",
          "write index.new after",
          "sync index.new before",
          "sync index.new after",
          "rename index.new before",
          "rename index.new after",
          "sync . before",
          "sync . after");

  private final DiskFolder inner;
  private final String point;
  private final AtomicInteger times;

  HaltingFolder(DiskFolder inner, String point, int times) {
    this.inner = inner;
    this.point = point;
    this.times = new AtomicInteger(times);
  }

  private void at(String operation, String name, String moment) {
    if (point.equals(operation + " " + name + " " + moment) && times.decrementAndGet() <= 0) {
      Runtime.getRuntime().halt(StoreChild.HALTED);
    }
  }

  @Override
  public List<String> names() throws IOException {
    return inner.names();
  }

  @Override
  public BlockFile open(String name, FileAccess wanted) throws IOException {
    var file = inner.open(name, wanted);
    at("open", name, "after");
    return new HaltingFile(name, file);
  }

  @Override
  public void delete(String name) throws IOException {
    inner.delete(name);
  }

  @Override
  public void rename(String from, String to) throws IOException {
    at("rename", from, "before");
    inner.rename(from, to);
    at("rename", from, "after");
  }

  @Override
  public void sync() throws IOException {
    at("sync", ".", "before");
    inner.sync();
    at("sync", ".", "after");
  }

  @Override
  public long usableBytes() throws IOException {
    return inner.usableBytes();
  }

  @Override
  public void close() throws IOException {
    inner.close();
  }

  private final class HaltingFile implements BlockFile {
    private final String opened;
    private final BlockFile file;
    private long written;

    HaltingFile(String opened, BlockFile file) {
      this.opened = opened;
      this.file = file;
    }

    /** A new index is the index from its first record after the checkpoint on. */
    private String name() {
      return opened.equals(IndexLog.NAME_NEW) && written < 0 ? IndexLog.NAME : opened;
    }

    @Override
    public FileAccess access() {
      return file.access();
    }

    @Override
    public long size() throws IOException {
      return file.size();
    }

    @Override
    public void write(long position, ByteBuffer from) throws IOException {
      at("write", name(), "before");
      int bytes = from.remaining();
      if (point.endsWith("half")) {
        int half = bytes / 2;
        if (access() == FileAccess.DIRECT) half = half / 4096 * 4096;
        file.write(position, from.slice(from.position(), half));
        at("write", name(), "half");
      }
      file.write(position, from);
      at("write", name(), "after");
    }

    @Override
    public void read(long position, ByteBuffer into) throws IOException {
      file.read(position, into);
    }

    @Override
    public void truncate(long size) throws IOException {
      file.truncate(size);
    }

    @Override
    public void sync() throws IOException {
      at("sync", name(), "before");
      file.sync();
      at("sync", name(), "after");
      written = -1;
    }

    @Override
    public void close() throws IOException {
      file.close();
    }
  }
}
