package dev.kvasir.tiers.disk;

import dev.kvasir.tiers.host.HostMemory;
import dev.kvasir.time.EventLoop;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * A folder that runs a hook before and after each operation, with nothing locked: the hook may
 * block, fail or end the process. A file is named as it is called at the time.
 */
public final class HookedFolder implements DiskFolder {
  /** Action beside each operation on a folder or a file. */
  @FunctionalInterface
  public interface Hook {
    /** Runs before the operation; an exception keeps it from happening. */
    void before(String operation, String name) throws IOException;

    /** Runs after the first half of a write, where writes are to be halved. */
    default void half(String operation, String name) {}

    default void after(String operation, String name) {}

    default boolean halvesWrites() {
      return false;
    }
  }

  private static final int DIRECT_BYTES = 4_096;

  private final DiskFolder inner;
  private final List<HookedFile> files = new CopyOnWriteArrayList<>();
  private volatile Hook hook = (_, _) -> {};

  HookedFolder(DiskFolder inner) {
    this.inner = inner;
  }

  /** A folder of the system. */
  public static HookedFolder open(DiskSettings settings) throws IOException {
    return new HookedFolder(RealFolder.open(settings.folder()));
  }

  /** A disk tier in this folder. */
  public DiskStore store(EventLoop loop, HostMemory above, DiskSettings settings)
      throws IOException {
    return new DiskStore(loop, above, settings, this);
  }

  public void hook(Hook next) {
    hook = next;
  }

  /** An operation that the hook goes along with. */
  private interface Operation {
    void run() throws IOException;
  }

  private void hooked(String operation, String name, Operation what) throws IOException {
    hook.before(operation, name);
    what.run();
    hook.after(operation, name);
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
    hook.after("open", name);
    return file;
  }

  @Override
  public void delete(String name) throws IOException {
    hooked("delete", name, () -> inner.delete(name));
  }

  @Override
  public void rename(String from, String to) throws IOException {
    hook.before("rename", from);
    inner.rename(from, to);
    for (var file : files) if (file.name.equals(from)) file.name = to;
    hook.after("rename", from);
  }

  @Override
  public void sync() throws IOException {
    hooked("sync", ".", inner::sync);
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
      if (hook.halvesWrites()) {
        int half = from.remaining() / 2;
        if (access() == FileAccess.DIRECT) half = half / DIRECT_BYTES * DIRECT_BYTES;
        file.write(position, from.slice(from.position(), half));
        hook.half("write", name);
      }
      file.write(position, from);
      hook.after("write", name);
    }

    @Override
    public void read(long position, ByteBuffer into) throws IOException {
      hooked("read", name, () -> file.read(position, into));
    }

    @Override
    public boolean reserve(long from, long to) throws IOException {
      hook.before("reserve", name);
      return file.reserve(from, to);
    }

    @Override
    public void truncate(long size) throws IOException {
      hooked("truncate", name, () -> file.truncate(size));
    }

    @Override
    public void sync() throws IOException {
      hooked("sync", name, file::sync);
    }

    @Override
    public void close() throws IOException {
      file.close();
    }
  }
}
