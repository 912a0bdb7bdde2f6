package dev.kvasir.gateway.journal;

import dev.kvasir.Nullable;
import dev.kvasir.net.Threads;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Appends lines to a file, on a thread of its own.
 *
 * <p>Whoever adds a line never waits: when the file is slower than the lines come, or cannot be
 * written, lines are dropped and counted.
 */
final class LineFile implements AutoCloseable {
  private static final int LINES_MAX = 8_192;
  private static final long BYTES_MAX = 64L << 20;
  private static final int BATCH_CHARS = 64 << 10;

  /** A line that is not made yet, and how much memory it holds until then. */
  private record Waiting(Supplier<@Nullable String> line, long bytes, boolean isHead) {}

  private final AppendedFile file;
  private final ArrayBlockingQueue<Optional<Waiting>> lines = new ArrayBlockingQueue<>(LINES_MAX);
  private final AtomicLong waitingBytes = new AtomicLong();
  private final AtomicLong dropped = new AtomicLong();
  private final StringBuilder batch = new StringBuilder();
  private final Thread thread;

  private LineFile(Path path, AppendedFile file) {
    this.file = file;
    this.thread = Thread.ofPlatform().name("lines of " + path.getFileName()).unstarted(this::run);
  }

  /** Opens the file behind what it holds; a new one is for its owner alone. */
  static LineFile open(Path path) {
    return open(path, System::nanoTime);
  }

  static LineFile open(Path path, LongSupplier nanos) {
    try {
      var file = new LineFile(path, AppendedFile.open(path, nanos));
      file.thread.start();
      return file;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write " + path + ": choose another file", e);
    }
  }

  /**
   * Adds a line that is made on the file's own thread; null for none.
   *
   * @param bytes about what it holds until then
   */
  void add(Supplier<@Nullable String> line, long bytes) {
    add(new Waiting(line, bytes, false));
  }

  /** Adds a line with which each file that follows this one begins too. */
  void addHead(Supplier<@Nullable String> line, long bytes) {
    add(new Waiting(line, bytes, true));
  }

  private void add(Waiting waiting) {
    boolean fits = waitingBytes.addAndGet(waiting.bytes) <= BYTES_MAX;
    if (fits && lines.offer(Optional.of(waiting))) return;
    waitingBytes.addAndGet(-waiting.bytes);
    dropped.incrementAndGet();
  }

  /** Returns the number of lines that were not written. */
  long dropped() {
    return dropped.get();
  }

  private void run() {
    try (file) {
      for (var next = lines.take(); next.isPresent(); next = lines.take()) {
        make(next.get());
        if (lines.isEmpty() || batch.length() > BATCH_CHARS) write();
      }
      write();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void make(Waiting waiting) {
    var line = waiting.line.get();
    waitingBytes.addAndGet(-waiting.bytes);
    if (line == null) return;
    if (waiting.isHead) {
      write();
      dropped.addAndGet(file.begin(line));
    } else {
      batch.append(line).append('\n');
    }
  }

  private void write() {
    if (batch.isEmpty()) return;
    dropped.addAndGet(file.append(batch.toString()));
    batch.setLength(0);
  }

  /** Writes what is there, and closes the file. */
  @Override
  public void close() {
    while (thread.isAlive() && !lines.offer(Optional.empty())) Thread.onSpinWait();
    Threads.join(thread);
  }
}
