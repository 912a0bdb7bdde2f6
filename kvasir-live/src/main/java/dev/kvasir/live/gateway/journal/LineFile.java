package dev.kvasir.live.gateway.journal;

import static java.lang.System.Logger.Level.WARNING;

import dev.kvasir.Nullable;
import dev.kvasir.live.PrivateFiles;
import dev.kvasir.live.Threads;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * Appends lines to a file, on a thread of its own.
 *
 * <p>Whoever adds a line never waits: when the file is slower than the lines come, lines are
 * dropped and counted.
 */
final class LineFile implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(LineFile.class.getName());
  private static final int LINES_MAX = 8_192;
  private static final long BYTES_MAX = 64L << 20;

  /** A line that is not made yet, and how much memory it holds until then. */
  private record Waiting(Supplier<@Nullable String> line, long bytes) {}

  private final Path path;
  private final Writer writer;
  private final ArrayBlockingQueue<Optional<Waiting>> lines = new ArrayBlockingQueue<>(LINES_MAX);
  private final AtomicLong waitingBytes = new AtomicLong();
  private final AtomicLong dropped = new AtomicLong();
  private final Thread thread;

  private LineFile(Path path, Writer writer) {
    this.path = path;
    this.writer = writer;
    this.thread = Thread.ofPlatform().name("lines of " + path.getFileName()).unstarted(this::run);
  }

  /** Opens the file behind what it holds; a new one is for its owner alone. */
  static LineFile open(Path path) {
    try {
      var options = Set.of(StandardOpenOption.CREATE, StandardOpenOption.APPEND);
      var channel = Files.newByteChannel(path, options, PrivateFiles.file(path));
      var bytes = new OutputStreamWriter(Channels.newOutputStream(channel), StandardCharsets.UTF_8);
      var file = new LineFile(path, new BufferedWriter(bytes));
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
    boolean fits = waitingBytes.addAndGet(bytes) <= BYTES_MAX;
    if (fits && lines.offer(Optional.of(new Waiting(line, bytes)))) return;
    waitingBytes.addAndGet(-bytes);
    dropped.incrementAndGet();
  }

  long dropped() {
    return dropped.get();
  }

  private void run() {
    try (writer) {
      for (var next = lines.take(); next.isPresent(); next = lines.take()) {
        var waiting = next.get();
        var line = waiting.line.get();
        waitingBytes.addAndGet(-waiting.bytes);
        if (line == null) continue;
        writer.write(line);
        writer.write('\n');
        if (lines.isEmpty()) writer.flush();
      }
    } catch (IOException e) {
      LOG.log(WARNING, "nothing more is written to " + path, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Writes what is there, and closes the file. */
  @Override
  public void close() {
    while (thread.isAlive() && !lines.offer(Optional.empty())) Thread.onSpinWait();
    Threads.join(thread);
  }
}
