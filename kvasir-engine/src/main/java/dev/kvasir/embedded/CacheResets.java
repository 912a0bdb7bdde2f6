package dev.kvasir.embedded;

import static java.lang.System.Logger.Level.INFO;
import static java.lang.System.Logger.Level.WARNING;

import dev.kvasir.Nullable;
import dev.kvasir.embedded.ResetReport.Part;
import dev.kvasir.kv.name.BlockHasher;
import dev.kvasir.kv.name.Sha256Hasher;
import dev.kvasir.net.Threads;
import dev.kvasir.tiers.SharedTierLookup;
import dev.kvasir.tiers.SharedTiers;
import dev.kvasir.tiers.disk.DiskStore;
import dev.kvasir.tiers.shared.SharedStore;
import dev.kvasir.time.EventLoop;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * Resets the caches of engines reliably: no block from before is used again, not by any engine, not
 * after a restart, and not by a server that shares a tier.
 *
 * <p>The names of blocks depend on a generation, and a reset makes a new one. So a block that is in
 * use, on its way or on a server that does not answer is not found any more, whatever becomes of
 * it. The generation is kept where blocks are kept: on each shared tier, where all servers look
 * every two seconds, and in the folder of the disk tier. Blocks are removed besides.
 */
public final class CacheResets {
  private static final System.Logger LOG = System.getLogger(CacheResets.class.getName());

  /** Interval at which a server checks whether another one has reset what they share. */
  static final Duration OBSERVE_INTERVAL = Duration.ofSeconds(2);

  /** Until then all servers that can be reached have looked. */
  private static final Duration OBSERVED = OBSERVE_INTERVAL.plusSeconds(1);

  private static final Duration ENGINES_MAX = Duration.ofSeconds(60);
  private static final Duration REMOVAL_MAX = Duration.ofSeconds(60);
  private static final String LOCAL = "local";

  private final EventLoop loop;
  private final @Nullable SharedTiers tiers;
  private final List<EmbeddedEngine> engines = new ArrayList<>();
  private final Map<String, String> tokens = new TreeMap<>();
  private final Deque<Consumer<ResetReport>> waiting = new ArrayDeque<>();
  private volatile String generation = "";
  private boolean running;

  /** Resets of engines that have no tiers below, or those. */
  CacheResets(EventLoop loop, @Nullable SharedTiers tiers) {
    this.loop = loop;
    this.tiers = tiers;
  }

  /** Takes care of an engine too; before it serves. */
  void add(EmbeddedEngine engine) {
    engines.add(engine);
  }

  /**
   * Returns what the names of blocks depend on besides their tokens; empty before the first reset.
   */
  String generation() {
    return generation;
  }

  /**
   * Names the blocks of a model and a tenant's salt; from any thread. What was computed before a
   * reset has other names than what is computed after it.
   */
  BlockHasher hasher(ServedModel model, String salt) {
    var now = generation;
    return new Sha256Hasher(model.fingerprint() + (now.isEmpty() ? "" : "\n" + now), salt);
  }

  /** Learns what was reset before this process was started; blocks, for servers are asked. */
  void open() {
    if (tiers == null) return;
    var disk = tiers.disk();
    if (disk != null) read(disk.note());
    for (var place : tiers.places()) {
      try {
        var seen = place.store().generation();
        if (!seen.isEmpty()) tokens.put(name(place), seen);
      } catch (IOException e) {
        LOG.log(WARNING, "{0} does not say if it was reset: {1}", name(place), e.getMessage());
      }
    }
    generation = text();
    if (disk != null && !disk.note().equals(generation)) {
      try {
        var _ = disk.reset(generation);
        diskPoolCleared();
      } catch (IOException e) {
        LOG.log(WARNING, "the disk tier could not be reset: {0}", e.getMessage());
      }
    }
    if (!tiers.places().isEmpty()) loop.after(OBSERVE_INTERVAL, this::observe);
  }

  private void read(String note) {
    for (var part : note.split(";", -1)) {
      int at = part.indexOf('=');
      if (at > 0) tokens.put(part.substring(0, at), part.substring(at + 1));
    }
  }

  private String text() {
    var text = new StringBuilder();
    tokens.forEach((name, token) -> text.append(name).append('=').append(token).append(';'));
    return text.toString();
  }

  private static String name(SharedTierLookup.Place place) {
    return place.pool().tier().word();
  }

  /** Asks the shared tiers, on a thread that may wait, and again after a while. */
  private void observe() {
    if (tiers == null) return;
    var places = tiers.places();
    Thread.startVirtualThread(
        () -> {
          for (var place : places) {
            try {
              var seen = place.store().generation();
              onLoop(() -> observed(place, seen));
            } catch (IOException e) {
              // The guard of the tier tells of a server that does not answer.
            }
          }
          onLoop(() -> loop.after(OBSERVE_INTERVAL, this::observe));
        });
  }

  private void observed(SharedTierLookup.Place place, String seen) {
    var known = tokens.getOrDefault(name(place), "");
    if (seen.equals(known) || running) return;
    if (seen.isEmpty()) {
      // The server has lost it: whoever comes new must not take it for one that was never reset.
      Thread.startVirtualThread(() -> keep(place.store(), known));
      return;
    }
    LOG.log(INFO, "{0} was reset by another server: so is this one", name(place));
    tokens.put(name(place), seen);
    generation = text();
    var next = generation;
    Thread.startVirtualThread(() -> resetHere(next));
    for (var engine : engines) engine.forget(_ -> {});
  }

  private static void keep(SharedStore store, String known) {
    try {
      store.keepGeneration(known);
    } catch (IOException e) {
      LOG.log(WARNING, "the generation of a shared tier is not set: {0}", e.getMessage());
    }
  }

  private void onLoop(Runnable task) {
    try {
      loop.execute(task);
    } catch (RejectedExecutionException e) {
      // Closed: nobody is left who would use a block.
    }
  }

  /** Resets everything; one reset after the other. On the loop, where it is answered too. */
  public void reset(Consumer<ResetReport> done) {
    waiting.add(done);
    if (!running) next();
  }

  private void next() {
    var done = waiting.poll();
    running = done != null;
    if (done == null) return;
    Thread.startVirtualThread(
        () -> {
          var report = reset();
          onLoop(
              () -> {
                done.accept(report);
                next();
              });
        });
  }

  private ResetReport reset() {
    var token = HexFormat.of().toHexDigits(new SecureRandom().nextLong());
    var failures = new TreeMap<String, String>();
    var places = tiers == null ? List.<SharedTierLookup.Place>of() : tiers.places();
    for (var place : places) {
      try {
        place.store().setGeneration(token);
      } catch (IOException | RuntimeException e) {
        failures.put(name(place), "" + e.getMessage());
      }
    }
    var parts = new ArrayList<Part>();
    parts.addAll(resetEngines(token, failures));
    var disk = resetHere(generation);
    if (disk != null) parts.add(disk);
    parts.addAll(removeShared(places, failures));
    return new ResetReport(parts);
  }

  /** Changes the names, so that nothing from before is found, and empties what has memory. */
  private List<Part> resetEngines(String token, Map<String, String> failures) {
    var counts = new ArrayList<CompletableFuture<Integer>>();
    var begun = new CompletableFuture<Boolean>();
    onLoop(
        () -> {
          change(token, failures);
          for (var engine : engines) {
            var count = new CompletableFuture<Integer>();
            counts.add(count);
            engine.forget(count::complete);
          }
          begun.complete(true);
        });
    var parts = new ArrayList<Part>();
    long end = System.nanoTime() + ENGINES_MAX.toNanos();
    await(begun, end);
    for (int i = 0; i < counts.size(); i++) {
      var forgotten = await(counts.get(i), end);
      var failure = forgotten == null ? "it was still busy after " + ENGINES_MAX : null;
      parts.add(new Part(engines.get(i).name(), forgotten == null ? 0 : forgotten, failure));
    }
    return parts;
  }

  private void change(String token, Map<String, String> failures) {
    boolean shared = false;
    for (var place : tiers == null ? List.<SharedTierLookup.Place>of() : tiers.places()) {
      if (failures.containsKey(name(place))) continue;
      tokens.put(name(place), token);
      shared = true;
    }
    // Where no server took it, the names of this process alone change, and it shares nothing.
    if (shared) tokens.remove(LOCAL);
    else tokens.put(LOCAL, token);
    generation = text();
  }

  private static <T> @Nullable T await(CompletableFuture<T> answer, long endNanos) {
    try {
      return answer.get(Math.max(0, endNanos - System.nanoTime()), TimeUnit.NANOSECONDS);
    } catch (InterruptedException | ExecutionException | TimeoutException e) {
      return null;
    }
  }

  /** Empties the disk tier for good; null where there is none. */
  private @Nullable Part resetHere(String note) {
    var disk = tiers == null ? null : tiers.disk();
    if (disk == null) return null;
    try {
      int blocks = reset(disk, note);
      return new Part("disk", blocks, null);
    } catch (IOException e) {
      LOG.log(WARNING, "the disk tier could not be reset: {0}", e.getMessage());
      return new Part("disk", 0, "" + e.getMessage());
    }
  }

  private int reset(DiskStore disk, String note) throws IOException {
    int blocks = disk.reset(note);
    // What was stored between the change of names and this is gone as well.
    onLoop(this::diskPoolCleared);
    return blocks;
  }

  private void diskPoolCleared() {
    if (tiers != null) tiers.clearDisk();
  }

  /** Removes blocks once no server stores under the old names any more. */
  private static List<Part> removeShared(
      List<SharedTierLookup.Place> places, Map<String, String> failures) {
    var parts = new ArrayList<Part>();
    if (failures.size() < places.size()) Threads.pause(OBSERVED);
    for (var place : places) {
      var name = name(place);
      var failure = failures.get(name);
      long removed = 0;
      if (failure == null) {
        try {
          removed = place.store().removeAll(REMOVAL_MAX);
        } catch (IOException | RuntimeException e) {
          failure = "its blocks are not found any more, but not all are removed: " + e.getMessage();
        }
      }
      parts.add(new Part(name, removed, failure));
    }
    return parts;
  }
}
