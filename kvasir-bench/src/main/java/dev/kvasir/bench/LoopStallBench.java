package dev.kvasir.bench;

import dev.kvasir.net.LiveLoop;
import dev.kvasir.tiers.disk.DiskSettings;
import dev.kvasir.tiers.disk.DiskStore;
import dev.kvasir.tiers.disk.HookedFolder;
import dev.kvasir.tiers.host.HostMemory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;

/**
 * Measures the effect of a stalled disk on the loop: the delay of a 1 ms ticker, calm and stalled
 * in turns of one run.
 *
 * <p>On the loop is a tiered cache of host memory over a real disk tier, and every tick sends
 * blocks down it and asks for some that lie below. In the stalled turns every operation on the
 * disk's files waits until the turn ends.
 */
public final class LoopStallBench {
  private static final Duration TICK = Duration.ofMillis(1);
  private static final int TURNS_USUAL = 10;
  private static final int SECONDS_USUAL = 3;
  private static final int HOST_BLOCKS = 1024;
  private static final int DISK_BLOCKS = 8192;
  private static final int BLOCK_BYTES = 64 << 10;

  private final LiveLoop loop;
  private final TieredCacheTraffic traffic;
  private final Delays calm;
  private final Delays stalled;
  private Delays now;
  private long dueNanos;
  private boolean over;

  /** Delay of each tick. */
  private static final class Delays {
    private final long[] nanos;
    private int count;

    Delays(int countMax) {
      this.nanos = new long[countMax];
    }

    void add(long late) {
      if (count < nanos.length) nanos[count++] = late;
    }

    double micros(double quantile) {
      var sorted = Arrays.copyOf(nanos, count);
      Arrays.sort(sorted);
      return count == 0 ? 0 : sorted[(int) (quantile * (count - 1))] / 1e3;
    }
  }

  private LoopStallBench(LiveLoop loop, TieredCacheTraffic traffic, int ticks) {
    this.loop = loop;
    this.traffic = traffic;
    this.calm = new Delays(ticks);
    this.stalled = new Delays(ticks);
    this.now = calm;
  }

  public static void main(String[] args) throws Exception {
    int turns = args.length > 0 ? Integer.parseInt(args[0]) : TURNS_USUAL;
    int seconds = args.length > 1 ? Integer.parseInt(args[1]) : SECONDS_USUAL;
    var folder = Files.createTempDirectory("kvasir-stall");
    try (var loop = new LiveLoop("stall bench");
        var memory = new HostMemory("host", HOST_BLOCKS, BLOCK_BYTES)) {
      var settings = DiskSettings.of(folder.resolve("tier"), DISK_BLOCKS, BLOCK_BYTES);
      var hooked = HookedFolder.open(settings);
      var disk = new Standstill();
      hooked.hook(disk);
      try (var store = hooked.store(loop, memory, settings)) {
        measure(loop, store, disk, turns, seconds);
      }
    } finally {
      delete(folder);
    }
  }

  private static void measure(
      LiveLoop loop, DiskStore store, Standstill disk, int turns, int seconds) throws Exception {
    var traffic = new TieredCacheTraffic(loop, store, HOST_BLOCKS, DISK_BLOCKS);
    int ticks = Math.toIntExact(Duration.ofSeconds((long) turns * seconds).toMillis());
    var bench = new LoopStallBench(loop, traffic, ticks);
    loop.execute(bench::begin);
    Thread.sleep(Duration.ofSeconds(seconds));
    for (int turn = 0; turn < turns; turn++) {
      bench.record(bench.calm);
      Thread.sleep(Duration.ofSeconds(seconds));
      disk.stand();
      bench.record(bench.stalled);
      Thread.sleep(Duration.ofSeconds(seconds));
      disk.goOn();
    }
    var ended = new CompletableFuture<String>();
    loop.execute(() -> ended.complete(bench.end()));
    System.out.println(ended.get());
  }

  private void begin() {
    dueNanos = loop.nanos() + TICK.toNanos();
    next();
  }

  private void next() {
    loop.after(Duration.ofNanos(Math.max(0, dueNanos - loop.nanos())), this::tick);
  }

  private void tick() {
    if (over) return;
    long late = loop.nanos() - dueNanos;
    now.add(late);
    traffic.tick();
    // The next one is due from now on if this one was late by more than a tick.
    dueNanos = Math.max(dueNanos + TICK.toNanos(), loop.nanos());
    next();
  }

  private void record(Delays delays) {
    loop.execute(() -> now = delays);
  }

  private String end() {
    over = true;
    var text = new StringBuilder("how late a tick of 1 ms is, in microseconds\n");
    text.append(
        String.format(
            Locale.ROOT, "%-9s %8s %8s %8s %8s %8s%n", "", "ticks", "p50", "p99", "p99.9", "max"));
    line(text, "calm", calm);
    line(text, "stalled", stalled);
    double extra = stalled.micros(0.99) - calm.micros(0.99);
    text.append(
        String.format(Locale.ROOT, "extra p99 %.0f microseconds, goal below 1000%n", extra));
    return text.append(traffic).toString();
  }

  private static void line(StringBuilder text, String name, Delays delays) {
    text.append(
        String.format(
            Locale.ROOT,
            "%-9s %8d %8.0f %8.0f %8.0f %8.0f%n",
            name,
            delays.count,
            delays.micros(0.5),
            delays.micros(0.99),
            delays.micros(0.999),
            delays.micros(1)));
  }

  private static void delete(Path folder) throws IOException {
    try (var files = Files.walk(folder)) {
      for (var file : files.sorted((a, b) -> b.compareTo(a)).toList()) Files.delete(file);
    }
  }

  /** A disk whose files stand still while they are told to, as one does that resets. */
  private static final class Standstill implements HookedFolder.Hook {
    private boolean standing;

    synchronized void stand() {
      standing = true;
    }

    synchronized void goOn() {
      standing = false;
      notifyAll();
    }

    @Override
    public synchronized void before(String operation, String name) throws IOException {
      try {
        while (standing) wait();
      } catch (InterruptedException e) {
        throw new IOException("interrupted while the disk stood still", e);
      }
    }
  }
}
