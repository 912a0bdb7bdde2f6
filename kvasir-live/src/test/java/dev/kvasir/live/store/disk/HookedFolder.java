package dev.kvasir.live.store.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * A folder that runs a hook before each operation, with nothing locked: the hook may block. A file
 * is named as it is called at the time.
 */
final class HookedFolder implements DiskFolder {
  private final DiskFolder inner;
  private final List<HookedFile> files = new CopyOnWriteArrayList<>();
  private volatile LossyFolder.Trouble hook = (_, _) -> {};

  HookedFolder(DiskFolder inner) {
    this.inner = inner;
  }

  void hook(LossyFolder.Trouble next) {
    hook = next;
  }

  @Override
  public List<String> names() throws IOException {
    return inner.names();
  }

  @Override
  public BlockFile open(String name, FileAccess wanted) throws IOException {
    hook.before("open", name);
    var file = new HookedFile(name, inner.open(name, wanted));
    files.add(file);
    return file;
  }

  @Override
  public void delete(String name) throws IOException {
    hook.before("delete", name);
    inner.delete(name);
  }

  @Override
  public void rename(String from, String to) throws IOException {
    hook.before("rename", from);
    inner.rename(from, to);
    for (var file : files) if (file.name.equals(from)) file.name = to;
  }

  @Override
  public void sync() throws IOException {
    hook.before("sync", ".");
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

  private final class HookedFile implements BlockFile {
    private volatile String name;
    private final BlockFile file;

    HookedFile(String name, BlockFile file) {
      this.name = name;
      this.file = file;
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
      hook.before("write", name);
      file.write(position, from);
    }

    @Override
    public void read(long position, ByteBuffer into) throws IOException {
      hook.before("read", name);
      file.read(position, into);
    }

    @Override
    public boolean reserve(long from, long to) throws IOException {
      hook.before("reserve", name);
      return file.reserve(from, to);
    }

    @Override
    public void truncate(long size) throws IOException {
      hook.before("truncate", name);
      file.truncate(size);
    }

    @Override
    public void sync() throws IOException {
      hook.before("sync", name);
      file.sync();
    }

    @Override
    public void close() throws IOException {
      file.close();
    }
  }
}
