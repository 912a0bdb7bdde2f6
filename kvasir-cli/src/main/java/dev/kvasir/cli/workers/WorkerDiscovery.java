package dev.kvasir.cli.workers;

import static java.lang.System.Logger.Level.DEBUG;
import static java.lang.System.Logger.Level.INFO;
import static java.lang.System.Logger.Level.WARNING;

import dev.kvasir.cli.settings.DiscoverySettings;
import dev.kvasir.cli.settings.WorkerSettings;
import dev.kvasir.cli.workers.WorkerSources.Source;
import dev.kvasir.spec.SpecError;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Polls a file, DNS and Kubernetes for the workers. A watch of Kubernetes triggers a poll at once;
 * its content is not used, so a broken watch loses nothing.
 *
 * <p>If a source fails or answers nonsense, its workers stay as they were. Each worker is probed
 * anyway, so a worker that is gone gets no requests. Each source has a thread: one that does not
 * answer delays no other.
 */
public final class WorkerDiscovery implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(WorkerDiscovery.class.getName());

  /** Changes that come together are asked for once. */
  private static final Duration SETTLE = Duration.ofMillis(10);

  /** Knows workers; asked on a thread that may wait. */
  @FunctionalInterface
  interface Lookup {
    List<WorkerSettings> workers() throws IOException;

    /** Returns whether one can wait for changes. */
    default boolean isWatched() {
      return false;
    }

    /** Tells of changes until that ends; on a thread of its own, which may be interrupted. */
    default void watch(Runnable changed) throws IOException {
      throw new IOException("cannot be watched");
    }
  }

  private static final class Watched {
    private final Source source;
    private final Lookup lookup;

    /** Reasons to ask before it is time. */
    private final Semaphore changes = new Semaphore(0);

    private String failure = "";

    Watched(Source source, Lookup lookup) {
      this.source = source;
      this.lookup = lookup;
    }
  }

  private final WorkerSources sources;
  private final Duration pace;
  private final List<Watched> watched = new ArrayList<>();

  private final List<Thread> watches = new ArrayList<>();
  private final CountDownLatch over = new CountDownLatch(1);

  private WorkerDiscovery(DiscoverySettings settings, WorkerSources sources) {
    this.sources = sources;
    this.pace = settings.pace();
    var file = settings.file();
    if (file != null) watched.add(new Watched(Source.FILE, new WorkerFile(file)));
    if (!settings.dns().isEmpty()) {
      watched.add(new Watched(Source.DNS, new ServiceRecords(settings)));
    }
    if (settings.kubernetes().isOn()) {
      var pods = settings.kubernetes().isPods() ? new Pods(settings) : new EndpointSlices(settings);
      watched.add(new Watched(Source.KUBERNETES, pods));
    }
  }

  /** Asks all for the first time, before anybody uses their workers; goes on with {@link #run}. */
  public static WorkerDiscovery of(DiscoverySettings settings, WorkerSources sources) {
    var discovery = new WorkerDiscovery(settings, sources);
    for (var each : discovery.watched) {
      sources.begin(each.source, List.of());
      discovery.query(each, sources::begin);
    }
    return discovery;
  }

  /** Asks from now on, until it is closed. */
  public void run() {
    for (var each : watched) {
      Thread.ofVirtual().name("kvasir-discovery").start(() -> poll(each));
      if (!each.lookup.isWatched()) continue;
      watches.add(Thread.ofVirtual().name("kvasir-watch").start(() -> watch(each)));
    }
  }

  private interface Found {
    void accept(Source source, List<WorkerSettings> workers) throws IOException;
  }

  private void poll(Watched each) {
    try {
      while (true) {
        var _ = each.changes.tryAcquire(pace.toNanos(), TimeUnit.NANOSECONDS);
        if (over.await(SETTLE.toNanos(), TimeUnit.NANOSECONDS)) return;
        each.changes.drainPermits();
        query(each, sources::set);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Begins a watch again when it ends; workers are asked for at the usual pace meanwhile. */
  private void watch(Watched each) {
    try {
      do {
        try {
          each.lookup.watch(each.changes::release);
        } catch (IOException | RuntimeException e) {
          LOG.log(DEBUG, "the watch of {0} ended: {1}", each.lookup, e.getMessage());
        }
      } while (!over.await(pace.toNanos(), TimeUnit.NANOSECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void query(Watched each, Found found) {
    try {
      found.accept(each.source, each.lookup.workers());
      sources.answered(each.source, System.currentTimeMillis());
      if (!each.failure.isEmpty()) LOG.log(INFO, "{0} answers again", each.lookup);
      each.failure = "";
    } catch (IOException | SpecError | IllegalArgumentException | IllegalStateException e) {
      sources.failed(each.source);
      var failure = String.valueOf(e.getMessage());
      if (!failure.equals(each.failure)) {
        LOG.log(
            WARNING,
            "the workers of {0} stay as they were, {1}: {2}",
            each.lookup,
            sources.lastAnswer(each.source),
            failure);
      }
      each.failure = failure;
    }
  }

  @Override
  public void close() {
    over.countDown();
    for (var each : watched) each.changes.release();
    watches.forEach(Thread::interrupt);
  }
}
