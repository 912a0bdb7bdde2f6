package dev.kvasir.cli.workers;

import static java.lang.System.Logger.Level.INFO;
import static java.lang.System.Logger.Level.WARNING;

import dev.kvasir.cli.settings.DiscoverySettings;
import dev.kvasir.cli.settings.WorkerSettings;
import dev.kvasir.cli.workers.WorkerSources.Source;
import dev.kvasir.sim.spec.SpecError;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Asks again and again who the workers are: a file, DNS, Kubernetes.
 *
 * <p>Where one cannot be asked, or answers nonsense, its workers stay as they were: each is probed
 * anyway, so that one that is really gone gets no requests.
 */
public final class WorkerDiscovery implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(WorkerDiscovery.class.getName());

  /** Knows workers; asked on a thread that may wait. */
  @FunctionalInterface
  interface Lookup {
    List<WorkerSettings> workers() throws IOException;
  }

  private static final class Watched {
    private final Source source;
    private final Lookup lookup;
    private String complaint = "";

    Watched(Source source, Lookup lookup) {
      this.source = source;
      this.lookup = lookup;
    }
  }

  private final WorkerSources sources;
  private final Duration pace;
  private final List<Watched> watched = new ArrayList<>();
  private final CountDownLatch over = new CountDownLatch(1);
  private final Thread thread;

  private WorkerDiscovery(DiscoverySettings settings, WorkerSources sources) {
    this.sources = sources;
    this.pace = settings.pace();
    var file = settings.file();
    if (file != null) watched.add(new Watched(Source.FILE, new WorkerFile(file)));
    if (!settings.dns().isEmpty()) {
      watched.add(new Watched(Source.DNS, new ServiceRecords(settings)));
    }
    if (!settings.kubernetes().service().isEmpty()) {
      watched.add(new Watched(Source.KUBERNETES, new EndpointSlices(settings)));
    }
    thread = Thread.ofPlatform().name("kvasir-discovery").daemon(true).unstarted(this::watch);
  }

  /** Asks all for the first time, before anybody uses their workers; goes on with {@link #run}. */
  public static WorkerDiscovery of(DiscoverySettings settings, WorkerSources sources) {
    var discovery = new WorkerDiscovery(settings, sources);
    for (var each : discovery.watched) {
      sources.begin(each.source, List.of());
      discovery.ask(each, sources::begin);
    }
    return discovery;
  }

  /** Asks from now on, until it is closed. */
  public void run() {
    if (!watched.isEmpty()) thread.start();
  }

  private interface Found {
    void take(Source source, List<WorkerSettings> workers) throws IOException;
  }

  private void watch() {
    try {
      while (!over.await(pace.toNanos(), TimeUnit.NANOSECONDS)) {
        for (var each : watched) ask(each, sources::set);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void ask(Watched each, Found found) {
    try {
      found.take(each.source, each.lookup.workers());
      if (!each.complaint.isEmpty()) LOG.log(INFO, "{0} answers again", each.lookup);
      each.complaint = "";
    } catch (IOException | SpecError | IllegalArgumentException | IllegalStateException e) {
      sources.failed(each.source);
      var complaint = String.valueOf(e.getMessage());
      if (!complaint.equals(each.complaint)) {
        LOG.log(WARNING, "the workers of {0} stay as they were: {1}", each.lookup, complaint);
      }
      each.complaint = complaint;
    }
  }

  @Override
  public void close() {
    over.countDown();
  }
}
