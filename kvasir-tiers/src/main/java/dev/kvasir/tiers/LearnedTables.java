package dev.kvasir.tiers;

import static java.lang.System.Logger.Level.WARNING;
import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;

import dev.kvasir.Nullable;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.time.EventLoop;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Files beside the disk tier that keep what eviction has learned on each tier over a restart.
 *
 * <pre>
 *   start: file --read--> pool          every minute, and at the end: pool --> file.new --> file
 *            '--damaged: the pool counts it, and begins anew
 * </pre>
 *
 * <p>The pools belong to a loop, on which they are asked; files are written beside it.
 */
public final class LearnedTables {
  private static final System.Logger LOG = System.getLogger(LearnedTables.class.getName());
  private static final Duration PACE = Duration.ofMinutes(1);
  private static final int BYTES_MAX = 1 << 20;
  private static final String ENDING = ".learned";

  private final @Nullable Path folder;
  private final Map<String, BlockPool> pools = new LinkedHashMap<>();
  private final AtomicLong failed = new AtomicLong();
  private final AtomicBoolean writing = new AtomicBoolean();

  private LearnedTables(@Nullable Path folder) {
    this.folder = folder;
  }

  /** Returns the files next to that folder; none without a folder. */
  public static LearnedTables siblingOf(@Nullable Path diskFolder) {
    return new LearnedTables(diskFolder);
  }

  /** Reads what the pool of that name had learnt, before anything is in it. */
  public void add(String name, BlockPool pool) {
    if (folder == null || pool.learned().isEmpty()) return;
    pools.put(name, pool);
    var file = file(folder, name);
    if (!Files.exists(file)) return;
    if (pool.restoreLearned(read(file))) return;
    LOG.log(WARNING, "{0} is damaged or of another version: eviction learns anew", file);
  }

  /** Returns the contents of the file; one that is too long is cut, which makes it unreadable. */
  private static byte[] read(Path file) {
    try (var in = Files.newInputStream(file)) {
      return in.readNBytes(BYTES_MAX);
    } catch (IOException e) {
      return new byte[0];
    }
  }

  /** Writes from now on every minute what was learnt; called once, from any thread. */
  public void keep(EventLoop loop) {
    if (!pools.isEmpty()) loop.execute(() -> later(loop));
  }

  private void later(EventLoop loop) {
    loop.after(
        PACE,
        () -> {
          var learned = learned();
          if (writing.compareAndSet(false, true)) {
            Thread.ofVirtual().name("kvasir-learned").start(() -> write(learned));
          }
          later(loop);
        });
  }

  /** Writes what was learnt, when the loop of the pools has ended or on it. */
  public void save() {
    write(learned());
  }

  private Map<String, byte[]> learned() {
    var learned = new LinkedHashMap<String, byte[]>();
    pools.forEach((name, pool) -> learned.put(name, pool.saveLearned()));
    return learned;
  }

  private void write(Map<String, byte[]> learned) {
    var sibling = folder;
    if (sibling == null) return;
    learned.forEach(
        (name, bytes) -> {
          try {
            write(file(sibling, name), bytes);
          } catch (IOException e) {
            failed.incrementAndGet();
            LOG.log(WARNING, "what eviction has learnt cannot be written: {0}", e.getMessage());
          }
        });
    writing.set(false);
  }

  private static void write(Path file, byte[] bytes) throws IOException {
    var made = file.resolveSibling(file.getFileName() + ".new");
    Files.write(made, bytes);
    Files.move(made, file, ATOMIC_MOVE, REPLACE_EXISTING);
  }

  private static Path file(Path folder, String name) {
    return folder.resolveSibling(folder.getFileName() + "-" + name + ENDING);
  }

  /** Files that could not be written. */
  public long failed() {
    return failed.get();
  }
}
