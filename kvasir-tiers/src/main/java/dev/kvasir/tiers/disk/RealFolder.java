package dev.kvasir.tiers.disk;

import static java.lang.System.Logger.Level.DEBUG;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import dev.kvasir.Nullable;
import dev.kvasir.net.PrivateFiles;
import dev.kvasir.tiers.host.BlockSpan;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A folder of the operating system, for its owner only and locked against other processes.
 *
 * <p>Refused are a link, a folder of somebody else and one with files that are not ours: what is
 * written here are other people's prompts, and what is deleted here must be ours to delete.
 */
public final class RealFolder implements DiskFolder {
  static final String LOCK = "lock";

  private static final System.Logger LOG = System.getLogger(RealFolder.class.getName());

  private static final List<String> OURS =
      List.of(LOCK, DiskBlockFile.BLOCKS, IndexLog.NAME, IndexLog.NAME_NEW);
  private static final Set<PosixFilePermission> FOLDER =
      PosixFilePermissions.fromString("rwx------");
  private static final Set<PosixFilePermission> FILE = PosixFilePermissions.fromString("rw-------");
  private static final int PID_BYTES_MAX = 20;

  /**
   * The folders that this process holds. The kernel's locks are the process's: opening a lock a
   * second time and closing it would give up the first.
   */
  private static final Set<Path> HELD = ConcurrentHashMap.newKeySet();

  private final Path path;
  private final FileChannel lock;

  private RealFolder(Path path, FileChannel lock) {
    this.path = path;
    this.lock = lock;
  }

  /** Makes the folder if it is not there, and takes it for this process. */
  public static RealFolder open(Path path) throws IOException {
    if (!Files.exists(path, NOFOLLOW_LINKS)) make(path);
    if (!Files.isDirectory(path, NOFOLLOW_LINKS)) {
      throw new IOException(path + " is not a folder of its own: links are not followed here");
    }
    var owner = Files.getAttribute(path, "unix:uid", NOFOLLOW_LINKS);
    var self = Files.getAttribute(PrivateFiles.ourOwn(), "unix:uid");
    if (!owner.equals(self)) {
      throw new IOException(path + " belongs to user " + owner + ", and this is user " + self);
    }
    for (var name : list(path)) {
      if (!OURS.contains(name)) {
        throw new IOException(path + " has a file that is not Kvasir's: " + name);
      }
      requirePlain(path.resolve(name));
    }
    var real = path.toRealPath();
    if (!HELD.add(real)) {
      throw new IOException(inUse(path, Long.toString(ProcessHandle.current().pid())));
    }
    try {
      Files.setPosixFilePermissions(real, FOLDER);
      return new RealFolder(real, lock(real));
    } catch (IOException | RuntimeException e) {
      HELD.remove(real);
      throw e;
    }
  }

  /** A link would have us write, or change the permissions of, what lies outside the folder. */
  private static void requirePlain(Path file) throws IOException {
    boolean plain = Files.isRegularFile(file, NOFOLLOW_LINKS);
    if (plain && Files.getAttribute(file, "unix:nlink", NOFOLLOW_LINKS).equals(1)) return;
    throw new IOException(
        file
            + " is "
            + (plain ? "a file of several names" : "not a plain file")
            + ": links are not followed here; delete it, or name another folder");
  }

  private static String inUse(Path path, String pid) {
    return path + " is in use by process " + pid + ", which holds its file " + LOCK;
  }

  private static void make(Path path) throws IOException {
    var absolute = path.toAbsolutePath();
    var parent = absolute.getParent();
    if (parent != null) PrivateFiles.folder(parent);
    Files.createDirectory(absolute, PosixFilePermissions.asFileAttribute(FOLDER));
    if (parent != null) syncFolder(parent);
  }

  private static FileChannel lock(Path path) throws IOException {
    var channel = channel(path.resolve(LOCK), null);
    try {
      FileLock held = channel.tryLock();
      if (held == null) {
        var pid = ByteBuffer.allocate(PID_BYTES_MAX);
        channel.read(pid, 0);
        throw new IOException(inUse(path, US_ASCII.decode(pid.flip()).toString()));
      }
      channel.truncate(0);
      channel.write(US_ASCII.encode(Long.toString(ProcessHandle.current().pid())), 0);
      return channel;
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
  }

  @Override
  public List<String> names() throws IOException {
    var names = list(path);
    names.remove(LOCK);
    return names;
  }

  private static List<String> list(Path path) throws IOException {
    var names = new ArrayList<String>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(path)) {
      for (var file : files) names.add(String.valueOf(file.getFileName()));
    }
    names.sort(null);
    return names;
  }

  @Override
  public BlockFile open(String name, FileAccess wanted) throws IOException {
    var file = path.resolve(name);
    if (wanted == FileAccess.DIRECT) {
      var direct = direct(file);
      if (direct != null) return new RealFile(file, direct, FileAccess.DIRECT);
    }
    return new RealFile(file, channel(file, null), FileAccess.BUFFERED);
  }

  /** Opens the file for direct access and tries that, on its first page; null if it is refused. */
  private static @Nullable FileChannel direct(Path file) throws IOException {
    if (Files.getFileStore(file.toAbsolutePath().getParent()).getBlockSize()
        > BlockSpan.PAGE_BYTES) {
      return null;
    }
    FileChannel channel;
    try {
      channel = channel(file, directOption());
    } catch (IOException | ReflectiveOperationException | UnsupportedOperationException e) {
      LOG.log(DEBUG, "{0} cannot be opened for direct access: {1}", file, e);
      return null;
    }
    try (var arena = Arena.ofShared()) {
      var page = arena.allocate(BlockSpan.PAGE_BYTES, BlockSpan.PAGE_BYTES).asByteBuffer();
      if (channel.size() == 0) channel.write(page, 0);
      else channel.read(page, 0);
      return channel;
    } catch (IOException e) {
      LOG.log(DEBUG, "{0} refuses direct access: {1}", file, e);
      channel.close();
      return null;
    }
  }

  /** The JDK's option for direct access; by its name, for javac warns of it and cannot be told. */
  public static OpenOption directOption() throws ReflectiveOperationException {
    var option = Class.forName("com.sun.nio.file.ExtendedOpenOption").getField("DIRECT").get(null);
    return (OpenOption) option;
  }

  private static FileChannel channel(Path file, @Nullable OpenOption extra) throws IOException {
    Set<OpenOption> options = new LinkedHashSet<>();
    options.add(StandardOpenOption.READ);
    options.add(StandardOpenOption.WRITE);
    options.add(StandardOpenOption.CREATE);
    options.add(NOFOLLOW_LINKS);
    if (extra != null) options.add(extra);
    var channel = FileChannel.open(file, options, PosixFilePermissions.asFileAttribute(FILE));
    Files.setPosixFilePermissions(file, FILE);
    return channel;
  }

  @Override
  public void delete(String name) throws IOException {
    Files.delete(path.resolve(name));
  }

  @Override
  public void rename(String from, String to) throws IOException {
    Files.move(path.resolve(from), path.resolve(to), StandardCopyOption.ATOMIC_MOVE);
  }

  @Override
  public void sync() throws IOException {
    syncFolder(path);
  }

  private static void syncFolder(Path path) throws IOException {
    try (var folder = FileChannel.open(path, StandardOpenOption.READ)) {
      folder.force(true);
    }
  }

  @Override
  public long usableBytes() throws IOException {
    return Files.getFileStore(path).getUsableSpace();
  }

  @Override
  public void close() throws IOException {
    if (!lock.isOpen()) return;
    lock.close();
    HELD.remove(path);
  }
}
