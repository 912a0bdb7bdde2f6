package dev.kvasir.gateway.journal;

import static java.lang.System.Logger.Level.WARNING;

import dev.kvasir.Nullable;
import dev.kvasir.net.PrivateFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * A file of lines that is written for as long as a server runs; belongs to one thread.
 *
 * <p>When it was moved or removed, as by a rotation of logs, the next lines go to a new file of its
 * name. When it cannot be written, lines are dropped until it can: a full disk costs lines, and
 * nothing else. No part of a line stays behind.
 */
final class AppendedFile implements AutoCloseable {
  /** Interval at which it checks whether its name still leads to it, or tries again to open it. */
  static final Duration PACE = Duration.ofSeconds(1);

  private static final System.Logger LOG = System.getLogger(AppendedFile.class.getName());

  private final Path path;
  private final LongSupplier nanos;
  private @Nullable SeekableByteChannel channel;
  private @Nullable Object key;
  private String head = "";
  private long lookedNanos;
  private boolean failing;
  private long dropped;

  private AppendedFile(Path path, LongSupplier nanos) {
    this.path = path;
    this.nanos = nanos;
  }

  /** Opens the file behind what it holds; a new one is for its owner alone. */
  static AppendedFile open(Path path, LongSupplier nanos) throws IOException {
    var file = new AppendedFile(path, nanos);
    file.open();
    return file;
  }

  private void open() throws IOException {
    lookedNanos = nanos.getAsLong();
    var options = Set.of(StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    boolean isTorn = isTorn();
    var opened = Files.newByteChannel(path, options, PrivateFiles.file(path));
    channel = opened;
    key = keyOfName();
    if (isTorn) write(opened, ByteBuffer.wrap(new byte[] {'\n'}));
  }

  /** Returns whether the file ends inside a line, as a process that was killed may have left it. */
  private boolean isTorn() throws IOException {
    if (!Files.isRegularFile(path) || !Files.isReadable(path)) return false;
    try (var there = Files.newByteChannel(path)) {
      var last = ByteBuffer.allocate(1);
      if (there.size() == 0) return false;
      var _ = there.position(there.size() - 1).read(last);
      return last.get(0) != '\n';
    }
  }

  /**
   * Returns the key of the file that the name leads to; null where the file system does not tell.
   */
  private @Nullable Object keyOfName() throws IOException {
    return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
  }

  /** Appends the line, and begins each file that follows with it. */
  long begin(String line) {
    var whole = line + "\n";
    long lost = append(whole);
    head = whole;
    return lost;
  }

  /**
   * Appends whole lines.
   *
   * @return how many of them were dropped
   */
  long append(String lines) {
    var bytes = ByteBuffer.wrap(lines.getBytes(StandardCharsets.UTF_8));
    try {
      var open = current();
      if (open == null) return dropped(bytes);
      write(open, bytes);
      recovered();
      return 0;
    } catch (IOException e) {
      failed(e);
      return dropped(bytes);
    }
  }

  /** The file that the name leads to; null where it is not yet time to try again. */
  private @Nullable SeekableByteChannel current() throws IOException {
    if (nanos.getAsLong() - lookedNanos < PACE.toNanos()) return channel;
    lookedNanos = nanos.getAsLong();
    if (channel != null && isMoved()) close();
    if (channel == null) {
      open();
      write(
          Objects.requireNonNull(channel), ByteBuffer.wrap(head.getBytes(StandardCharsets.UTF_8)));
    }
    return channel;
  }

  private boolean isMoved() throws IOException {
    try {
      return !Objects.equals(key, keyOfName());
    } catch (NoSuchFileException e) {
      return true;
    }
  }

  /** Writes all of it, or up to the last line that fits. */
  private void write(SeekableByteChannel to, ByteBuffer bytes) throws IOException {
    try {
      while (bytes.hasRemaining()) to.write(bytes);
    } catch (IOException e) {
      int torn = 0;
      while (bytes.position() > 0 && bytes.get(bytes.position() - 1) != '\n') {
        bytes.position(bytes.position() - 1);
        torn++;
      }
      if (torn > 0) to.truncate(to.size() - torn);
      throw e;
    }
  }

  private void recovered() {
    if (failing) LOG.log(WARNING, "{0} is written again; {1} lines were dropped", path, dropped);
    failing = false;
    dropped = 0;
  }

  private void failed(IOException why) {
    close();
    if (failing) return;
    failing = true;
    var reason = why instanceof NoSuchFileException ? "its folder is not there" : why.getMessage();
    LOG.log(WARNING, "{0} cannot be written: {1}; lines are dropped until it can", path, reason);
  }

  private long dropped(ByteBuffer rest) {
    long count = 0;
    while (rest.hasRemaining()) if (rest.get() == '\n') count++;
    dropped += count;
    return count;
  }

  @Override
  public void close() {
    var open = channel;
    channel = null;
    if (open == null) return;
    try {
      open.close();
    } catch (IOException e) {
      LOG.log(WARNING, "{0} was not closed: {1}", path, e.getMessage());
    }
  }
}
