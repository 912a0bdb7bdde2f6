package dev.kvasir.tiers.disk;

import dev.kvasir.Nullable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.random.RandomGenerator;

/**
 * A folder in memory that keeps apart what is synced from what is not.
 *
 * <p>When the power goes, each sector of each unsynced write is kept or lost on its own, one of
 * them in part; what was made, renamed and deleted since the last sync of the folder is kept up to
 * some point. A sync that fails loses what it should have synced, though it can still be read: that
 * is what Linux does.
 */
final class LossyFolder implements DiskFolder {
  private static final int SECTOR_BYTES = 512;

  /** The process has come to its end. */
  static final class Crash extends RuntimeException {
    private static final long serialVersionUID = 1;

    Crash() {
      super("crash", null, false, false);
    }
  }

  private static final class Write {
    final int at;
    final byte[] bytes;

    Write(int at, byte[] bytes) {
      this.at = at;
      this.bytes = bytes;
    }
  }

  /** The name stands for the inode from now on, and the other name for nothing. */
  private record Change(String name, @Nullable Inode inode, String other) {}

  /** A file, whatever its name. */
  private static final class Inode {
    byte[] live = new byte[0];
    byte[] synced = new byte[0];
    List<Write> pending = new ArrayList<>();

    void write(int at, byte[] bytes) {
      if (live.length < at + bytes.length) live = Arrays.copyOf(live, at + bytes.length);
      System.arraycopy(bytes, 0, live, at, bytes.length);
      pending.add(new Write(at, bytes));
    }

    void sync() {
      for (var write : pending) synced = apply(synced, write, 0, write.bytes.length);
      pending.clear();
    }
  }

  private final Map<String, Inode> live = new TreeMap<>();
  private final Map<String, Inode> synced = new TreeMap<>();
  private final List<Change> pending = new ArrayList<>();
  private HookedFolder.Hook trouble = (_, _) -> {};
  private long usableBytes = Long.MAX_VALUE;

  synchronized void trouble(HookedFolder.Hook next) {
    trouble = next;
  }

  synchronized void usableBytes(long bytes) {
    usableBytes = bytes;
  }

  /** The folder as the next process finds it, with what the kernel still has to write. */
  synchronized LossyFolder afterKill() {
    trouble = (_, _) -> {};
    return this;
  }

  /** The folder as it may be found when the power comes back. */
  synchronized LossyFolder afterPowerLoss(RandomGenerator random) {
    var found = new LossyFolder();
    found.live.putAll(synced);
    int kept = random.nextInt(pending.size() + 1);
    for (var change : pending.subList(0, kept)) change(found.live, change);
    for (var entry : found.live.entrySet()) {
      var inode = new Inode();
      inode.live = remains(entry.getValue(), random);
      inode.synced = inode.live.clone();
      entry.setValue(inode);
    }
    found.synced.putAll(found.live);
    return found;
  }

  private static byte[] remains(Inode inode, RandomGenerator random) {
    byte[] content = inode.synced.clone();
    double keep = random.nextInt(4) / 3.0;
    int torn = inode.pending.isEmpty() ? -1 : random.nextInt(inode.pending.size());
    for (int i = 0; i < inode.pending.size(); i++) {
      var write = inode.pending.get(i);
      int tornAt = i == torn ? random.nextInt(write.bytes.length) : -1;
      for (int from = 0; from < write.bytes.length; ) {
        int sectorEnd = (write.at + from) / SECTOR_BYTES * SECTOR_BYTES + SECTOR_BYTES - write.at;
        int to = Math.min(write.bytes.length, sectorEnd);
        if (tornAt >= from && tornAt < to) content = apply(content, write, from, tornAt);
        else if (random.nextDouble() < keep) content = apply(content, write, from, to);
        from = to;
      }
    }
    return content;
  }

  private static byte[] apply(byte[] content, Write write, int from, int to) {
    int end = write.at + to;
    byte[] changed = content.length < end ? Arrays.copyOf(content, end) : content;
    System.arraycopy(write.bytes, from, changed, write.at + from, to - from);
    return changed;
  }

  private static void change(Map<String, Inode> names, Change change) {
    names.remove(change.other);
    if (change.inode != null) names.put(change.name, change.inode);
  }

  @Override
  public synchronized List<String> names() throws IOException {
    trouble.before("list", ".");
    return List.copyOf(live.keySet());
  }

  @Override
  public synchronized BlockFile open(String name, FileAccess wanted) throws IOException {
    trouble.before("open", name);
    var inode = live.get(name);
    if (inode == null) {
      inode = new Inode();
      live.put(name, inode);
      pending.add(new Change(name, inode, ""));
    }
    return new File(name, inode, wanted);
  }

  @Override
  public synchronized void delete(String name) throws IOException {
    trouble.before("delete", name);
    live.remove(name);
    pending.add(new Change("", null, name));
  }

  @Override
  public synchronized void rename(String from, String to) throws IOException {
    trouble.before("rename", from);
    var inode = live.remove(from);
    if (inode == null) throw new IOException("no " + from);
    live.put(to, inode);
    pending.add(new Change(to, inode, from));
  }

  @Override
  public synchronized void sync() throws IOException {
    trouble.before("sync", ".");
    synced.clear();
    synced.putAll(live);
    pending.clear();
  }

  @Override
  public synchronized long usableBytes() {
    return usableBytes;
  }

  @Override
  public void close() {}

  /** Changes bytes of a file behind everybody's back. */
  synchronized byte[] bytes(String name) {
    var inode = live.get(name);
    if (inode == null) throw new IllegalArgumentException(name);
    return inode.live;
  }

  synchronized void bytes(String name, byte[] content) {
    var inode = live.get(name);
    if (inode == null) throw new IllegalArgumentException(name);
    inode.live = content;
  }

  private final class File implements BlockFile {
    private final String name;
    private final Inode inode;
    private final FileAccess access;

    File(String name, Inode inode, FileAccess access) {
      this.name = name;
      this.inode = inode;
      this.access = access;
    }

    @Override
    public FileAccess access() {
      return access;
    }

    @Override
    public long size() {
      synchronized (LossyFolder.this) {
        return inode.live.length;
      }
    }

    @Override
    public void write(long position, ByteBuffer from) throws IOException {
      var bytes = new byte[from.remaining()];
      from.get(bytes);
      synchronized (LossyFolder.this) {
        try {
          trouble.before("write", name);
        } catch (IOException | Crash e) {
          // A write that fails, or during which the process dies, may have got somewhere.
          inode.write((int) position, Arrays.copyOf(bytes, bytes.length / 2));
          throw e;
        }
        inode.write((int) position, bytes);
      }
    }

    @Override
    public void read(long position, ByteBuffer into) throws IOException {
      synchronized (LossyFolder.this) {
        trouble.before("read", name);
        int length = (int) Math.min(into.remaining(), inode.live.length - position);
        if (length > 0) into.put(inode.live, (int) position, length);
      }
    }

    @Override
    public void truncate(long size) throws IOException {
      synchronized (LossyFolder.this) {
        trouble.before("truncate", name);
        inode.sync();
        inode.live = Arrays.copyOf(inode.live, (int) size);
        inode.synced = Arrays.copyOf(inode.synced, (int) size);
      }
    }

    @Override
    public void sync() throws IOException {
      synchronized (LossyFolder.this) {
        try {
          trouble.before("sync", name);
        } catch (IOException e) {
          inode.pending.clear();
          throw e;
        }
        inode.sync();
      }
    }

    @Override
    public void close() {}
  }
}
