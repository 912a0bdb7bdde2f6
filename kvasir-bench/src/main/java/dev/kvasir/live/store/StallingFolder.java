package dev.kvasir.live.store;

import dev.kvasir.live.store.disk.BlockFile;
import dev.kvasir.live.store.disk.DiskFolder;
import dev.kvasir.live.store.disk.DiskSettings;
import dev.kvasir.live.store.disk.DiskStore;
import dev.kvasir.live.store.disk.FileAccess;
import dev.kvasir.live.store.disk.RealFolder;
import dev.kvasir.time.EventLoop;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * A real folder whose files stand still while they are told to, as a disk does that resets.
 *
 * <p>In the package of the store, since the port it implements is nobody else's.
 */
public final class StallingFolder implements DiskFolder {
  private final DiskFolder inner;
  private boolean standing;

  private StallingFolder(DiskFolder inner) {
    this.inner = inner;
  }

  /** A folder of the system. */
  public static StallingFolder open(DiskSettings settings) throws IOException {
    return new StallingFolder(RealFolder.open(settings.folder()));
  }

  /** A disk tier in this folder. */
  public DiskStore store(EventLoop loop, HostMemory above, DiskSettings settings)
      throws IOException {
    return new DiskStore(loop, above, settings, this);
  }

  /** From now on, every operation on a file waits. */
  public synchronized void stand() {
    standing = true;
  }

  public synchronized void goOn() {
    standing = false;
    notifyAll();
  }

  private synchronized void pass() throws IOException {
    try {
      while (standing) wait();
    } catch (InterruptedException e) {
      throw new IOException("interrupted while the disk stood still", e);
    }
  }

  @Override
  public List<String> names() throws IOException {
    return inner.names();
  }

  @Override
  public BlockFile open(String name, FileAccess wanted) throws IOException {
    pass();
    return new StallingFile(inner.open(name, wanted));
  }

  @Override
  public void delete(String name) throws IOException {
    pass();
    inner.delete(name);
  }

  @Override
  public void rename(String from, String to) throws IOException {
    pass();
    inner.rename(from, to);
  }

  @Override
  public void sync() throws IOException {
    pass();
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

  /** A file of this folder. */
  private final class StallingFile implements BlockFile {
    private final BlockFile file;

    StallingFile(BlockFile file) {
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
      pass();
      file.write(position, from);
    }

    @Override
    public void read(long position, ByteBuffer into) throws IOException {
      pass();
      file.read(position, into);
    }

    @Override
    public boolean reserve(long from, long to) throws IOException {
      return file.reserve(from, to);
    }

    @Override
    public void truncate(long size) throws IOException {
      pass();
      file.truncate(size);
    }

    @Override
    public void sync() throws IOException {
      pass();
      file.sync();
    }

    @Override
    public void close() throws IOException {
      file.close();
    }
  }
}
