package dev.kvasir.bench.tier;

import com.sun.management.OperatingSystemMXBean;
import dev.kvasir.tierd.TierDaemon;
import dev.kvasir.tierd.settings.TierSettings;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;

/**
 * The tier daemon beside plain copies and plain reads, in turns of one run.
 *
 * <pre>
 *   TierDaemonBench FOLDER          a folder on the disk to measure, with room for the chunks
 * </pre>
 *
 * <p>{@code -Dchunk=} bytes of a chunk, {@code -Dchunks=} how many, {@code -Drounds=} how often.
 * The daemon is in this process, so processor times hold for both sides.
 */
public final class TierDaemonBench {
  private static final int CHUNK_BYTES = Integer.getInteger("chunk", 2 << 20);
  private static final int CHUNKS = Integer.getInteger("chunks", 512);
  private static final int ROUNDS = Integer.getInteger("rounds", 5);
  private static final int LOOKUPS = 200;
  private static final int DISK_THREADS = 32;
  private static final int PAGE = 4096;
  private static final Path SHARED = Path.of("/dev/shm");

  private final Path folder;
  private final BenchEngine engine;
  private final int threads = Runtime.getRuntime().availableProcessors();
  private final OperatingSystemMXBean system =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  /** Seconds, and seconds of processors. */
  private record Times(double wall, double cpu) {
    double gigabytes() {
      return (double) CHUNKS * CHUNK_BYTES / 1e9 / wall;
    }
  }

  /** Something to measure. */
  private interface Work {
    int run() throws Exception;
  }

  private TierDaemonBench(Path folder, BenchEngine engine) {
    this.folder = folder;
    this.engine = engine;
  }

  public static void main(String[] arguments) throws Exception {
    if (arguments.length != 1) {
      System.err.println("TierDaemonBench FOLDER");
      return;
    }
    var folder = Files.createDirectories(Path.of(arguments[0]));
    var rows = SHARED.resolve("kvasir-bench-" + ProcessHandle.current().pid());
    try (var engine = new BenchEngine(rows, CHUNK_BYTES, CHUNKS)) {
      new TierDaemonBench(folder, engine).run();
    }
  }

  private TierSettings settings(long diskBytes) {
    long bytes = (long) (CHUNK_BYTES + PAGE) * (CHUNKS + 64);
    var usual = TierSettings.DEFAULT.in(folder);
    return new TierSettings(
        usual.socket(),
        usual.users(),
        usual.bufferFolders(),
        0,
        usual.connectionsMax(),
        usual.namespacesMax(),
        2 * bytes,
        diskBytes == 0 ? 0 : bytes,
        usual.folder(),
        usual.eviction(),
        Duration.ZERO,
        TierSettings.Load.ALWAYS,
        0,
        usual.order(),
        usual.disk(),
        null,
        null,
        null,
        null);
  }

  private void run() throws Exception {
    var copies = new ArrayList<Times>();
    var stores = new ArrayList<Times>();
    var loads = new ArrayList<Times>();
    double lookups = 0;
    try (var arena = Arena.ofShared()) {
      var plain = arena.allocate((long) CHUNKS * CHUNK_BYTES, PAGE);
      for (int round = -1; round < ROUNDS; round++) {
        try (var _ = TierDaemon.open(settings(0))) {
          engine.connect(settings(0).socket());
          Thread.sleep(500);
          copies.add(time(() -> copy(plain)));
          stores.add(time(engine::store));
          loads.add(time(engine::load));
          lookups = lookups();
          engine.leave();
        }
        if (round < 0) for (var list : List.of(copies, stores, loads)) list.clear();
      }
    }
    print("memcpy, " + threads + " threads", copies, copies);
    print("store into host memory", stores, copies);
    print("load from host memory", loads, copies);
    double overhead = 0;
    for (int i = 0; i < ROUNDS; i++) overhead += loads.get(i).cpu - copies.get(i).cpu;
    System.out.printf(
        Locale.ROOT,
        "load: %.1f us of a processor for a chunk besides copying (goal 15)%n",
        overhead / ROUNDS / CHUNKS * 1e6);
    System.out.printf(
        Locale.ROOT, "lookups: %,.0f a second of a processor (goal 100,000)%n", lookups);
    disk();
  }

  private double lookups() throws Exception {
    for (int i = 0; i < LOOKUPS; i++) engine.look();
    var times =
        time(
            () -> {
              int found = 0;
              for (int i = 0; i < LOOKUPS; i++) found = engine.look();
              return found;
            });
    return (double) LOOKUPS * CHUNKS / times.cpu;
  }

  /**
   * Measures reads of what is on disk, by a daemon that has nothing in memory and by plain threads.
   */
  private void disk() throws Exception {
    var settings = settings(1);
    try (var daemon = TierDaemon.open(settings)) {
      engine.connect(settings.socket());
      engine.store();
      while (onDisk(daemon) < CHUNKS) Thread.sleep(200);
      engine.leave();
    }
    var plain = new ArrayList<Times>();
    var loads = new ArrayList<Times>();
    for (int round = 0; round < ROUNDS; round++) {
      plain.add(time(this::readPlain));
      try (var _ = TierDaemon.open(settings)) {
        engine.connect(settings.socket());
        Thread.sleep(500);
        loads.add(time(engine::load));
        engine.leave();
      }
    }
    print("O_DIRECT reads, " + DISK_THREADS + " threads", plain, plain);
    print("load from disk", loads, plain);
  }

  /** Chunks on disk, by the metric of its bytes. */
  private static long onDisk(TierDaemon daemon) {
    return daemon
        .metrics()
        .lines()
        .filter(line -> line.startsWith("kvasir_tier_bytes{") && line.contains("\"disk\""))
        .mapToLong(line -> (long) Double.parseDouble(line.substring(line.lastIndexOf(' '))))
        .map(bytes -> bytes / CHUNK_BYTES)
        .sum();
  }

  /** The JDK has it, but warns of it where it is named. */
  private static OpenOption direct() throws IOException {
    try {
      var options = Class.forName("com.sun.nio.file.ExtendedOpenOption");
      return (OpenOption) options.getField("DIRECT").get(null);
    } catch (ReflectiveOperationException e) {
      throw new IOException("this JDK cannot read past the page cache", e);
    }
  }

  private int readPlain() throws IOException, InterruptedException {
    Path file;
    try (var files = Files.walk(folder.resolve("tier"))) {
      file =
          files
              .filter(Files::isRegularFile)
              .max(Comparator.comparingLong(each -> each.toFile().length()))
              .orElseThrow();
    }
    int stride = CHUNK_BYTES + PAGE;
    try (var channel = FileChannel.open(file, StandardOpenOption.READ, direct());
        var arena = Arena.ofShared()) {
      var memory = arena.allocate((long) DISK_THREADS * stride, PAGE);
      var slots = new AtomicInteger();
      var own = ThreadLocal.withInitial(slots::getAndIncrement);
      each(
          DISK_THREADS,
          chunk -> {
            var into = memory.asSlice((long) own.get() * stride, stride).asByteBuffer();
            try {
              while (into.hasRemaining()) {
                long at = (long) chunk * stride + into.position();
                if (channel.read(into, at) < 0) return;
              }
            } catch (IOException e) {
              throw new IllegalStateException(e);
            }
          });
    }
    return CHUNKS;
  }

  private int copy(MemorySegment plain) throws InterruptedException {
    each(
        threads,
        chunk ->
            plain.asSlice((long) chunk * CHUNK_BYTES, CHUNK_BYTES).copyFrom(engine.row(chunk)));
    return CHUNKS;
  }

  private static void each(int threads, IntConsumer work) throws InterruptedException {
    var next = new AtomicInteger();
    var all = new ArrayList<Thread>();
    for (int i = 0; i < threads; i++) {
      all.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    for (int c = next.getAndIncrement(); c < CHUNKS; c = next.getAndIncrement()) {
                      work.accept(c);
                    }
                  }));
    }
    for (var thread : all) thread.join();
  }

  private Times time(Work work) throws Exception {
    long cpu = system.getProcessCpuTime();
    long start = System.nanoTime();
    int done = work.run();
    long wall = System.nanoTime() - start;
    if (done != CHUNKS) System.out.println("only " + done + " of " + CHUNKS + " chunks");
    return new Times(wall / 1e9, (system.getProcessCpuTime() - cpu) / 1e9);
  }

  /** Each ratio is of one round, in which the machine was as busy for both. */
  private static void print(String what, List<Times> ours, List<Times> plain) {
    var ratios = new ArrayList<Double>();
    for (int i = 0; i < ours.size(); i++) ratios.add(plain.get(i).wall / ours.get(i).wall);
    ratios.sort(null);
    var rates = ours.stream().map(Times::gigabytes).sorted().toList();
    System.out.printf(
        Locale.ROOT,
        "%-32s %7.2f GB/s  ratio %.2f (%.2f to %.2f)%n",
        what,
        rates.get(rates.size() / 2),
        ratios.get(ratios.size() / 2),
        ratios.getFirst(),
        ratios.getLast());
  }
}
