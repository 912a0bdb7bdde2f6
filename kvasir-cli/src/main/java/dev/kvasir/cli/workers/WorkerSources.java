package dev.kvasir.cli.workers;

import static java.lang.System.Logger.Level.WARNING;

import dev.kvasir.cli.settings.WorkerSettings;
import dev.kvasir.net.metrics.MetricSet;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;

/**
 * The workers of a gateway by where they come from: its settings, the API, a watched file, DNS or
 * Kubernetes.
 *
 * <p>Each source lists its current workers. A worker that no source lists any more gets no new
 * requests, and is removed when its last request ends. If two sources list one worker, the first
 * source counts.
 */
public final class WorkerSources {
  private static final System.Logger LOG = System.getLogger(WorkerSources.class.getName());

  /** Sources of workers; earlier ones take precedence. */
  public enum Source {
    SETTINGS,
    API,
    FILE,
    DNS,
    KUBERNETES;

    /** As metrics and people call it. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Takes the workers that are to be there from now on. */
  @FunctionalInterface
  public interface Target {
    void use(List<WorkerSettings> workers) throws IOException;
  }

  /** The workers of each source, its failures, and the time of its last success. */
  public static final MetricSet<WorkerSources> METRICS =
      new MetricSet<WorkerSources>()
          .once(
              rows ->
                  rows.gauges(
                          "kvasir_discovery_workers",
                          "Workers by the source that names them.",
                          "source",
                          WorkerSources::counts)
                      .counters(
                          "kvasir_discovery_failures_total",
                          "Times that a source could not be asked or its answer not be used.",
                          "source",
                          WorkerSources::failures)
                      .gauges(
                          "kvasir_discovery_last_success_timestamp_seconds",
                          "When a source was last asked with success, in seconds since 1970.",
                          "source",
                          WorkerSources::answers));

  private final Target target;
  private final Map<Source, List<WorkerSettings>> workers = new EnumMap<>(Source.class);
  private final Map<Source, Long> failures = new EnumMap<>(Source.class);
  private final Map<Source, Long> answeredMillis = new EnumMap<>(Source.class);
  private final TreeSet<String> twice = new TreeSet<>();

  public WorkerSources(Target target) {
    this.target = target;
  }

  /** The source has these workers now; where they cannot be used, all stays as it was. */
  public synchronized void set(Source source, List<WorkerSettings> present) throws IOException {
    var before = workers.getOrDefault(source, List.of());
    if (present.equals(before) && workers.containsKey(source)) return;
    workers.put(source, List.copyOf(present));
    try {
      target.use(all());
    } catch (IOException | RuntimeException e) {
      workers.put(source, before);
      throw e;
    }
  }

  /** Those of a source before anybody uses them. */
  public synchronized void begin(Source source, List<WorkerSettings> present) {
    workers.put(source, List.copyOf(present));
  }

  /** Those that the source has now. */
  public synchronized List<WorkerSettings> of(Source source) {
    return workers.getOrDefault(source, List.of());
  }

  /** All workers, each once. */
  public synchronized List<WorkerSettings> all() {
    var byName = new LinkedHashMap<String, WorkerSettings>();
    workers.forEach(
        (source, each) -> {
          for (var worker : each) {
            var name = worker.worker().name();
            var before = byName.putIfAbsent(name, worker);
            if (before == null || before.equals(worker) || !twice.add(name)) continue;
            LOG.log(
                WARNING,
                "{0} names a worker {1} that is there already: it is left out; give it another"
                    + " name",
                source.label(),
                name);
          }
        });
    return new ArrayList<>(byName.values());
  }

  /** The source could not be asked, or its answer not be used. */
  public synchronized void failed(Source source) {
    failures.merge(source, 1L, Long::sum);
  }

  /** The source was asked with success at that time. */
  synchronized void answered(Source source, long millis) {
    answeredMillis.put(source, millis);
  }

  /** When the source was last asked with success, as people read it. */
  synchronized String lastAnswer(Source source) {
    var millis = answeredMillis.get(source);
    return millis == null
        ? "having never answered"
        : "having last answered at " + Instant.ofEpochMilli(millis);
  }

  private synchronized Map<String, Double> answers() {
    var answers = new LinkedHashMap<String, Double>();
    answeredMillis.forEach((source, millis) -> answers.put(source.label(), millis / 1e3));
    return answers;
  }

  private synchronized Map<String, Double> counts() {
    var counts = new LinkedHashMap<String, Double>();
    workers.forEach((source, each) -> counts.put(source.label(), (double) each.size()));
    return counts;
  }

  private synchronized Map<String, Long> failures() {
    var counts = new LinkedHashMap<String, Long>();
    for (var source : workers.keySet()) {
      counts.put(source.label(), failures.getOrDefault(source, 0L));
    }
    return counts;
  }
}
