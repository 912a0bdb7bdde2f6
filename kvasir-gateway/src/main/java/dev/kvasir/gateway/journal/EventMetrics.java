package dev.kvasir.gateway.journal;

import static java.lang.System.Logger.Level.INFO;
import static java.lang.System.Logger.Level.WARNING;

import dev.kvasir.events.WorkerEvents;
import dev.kvasir.gateway.worker.GatewayWorkers;
import dev.kvasir.net.metrics.MetricSet;
import dev.kvasir.net.metrics.MetricSet.Rows;
import dev.kvasir.net.metrics.MetricsText.Label;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Comparison of what workers tell by KV events with what requests find there; belongs to the
 * router's loop.
 *
 * <p>Of every request the cached tokens that the router expected stand beside those that the worker
 * told in its answer. Where the two lie far apart for a worker with KV events, its events do not
 * match the requests, and that is logged once until they match again.
 */
public final class EventMetrics {
  private static final System.Logger LOG = System.getLogger(EventMetrics.class.getName());

  /** So many answers are judged together. */
  public static final int ANSWERS = 32;

  /** Share of the prompts' tokens by which the two may differ. */
  private static final double DIFFERENCE_MAX = 0.25;

  /** The sums of one worker. */
  private static final class Sums {
    private long expected;
    private long reported;
    private long exact;
    private long tooFew;
    private long tooMany;
    private int answers;
    private long promptTokens;
    private long difference;
    private boolean differs;

    Map<String, Long> predictions() {
      return new TreeMap<>(Map.of("exact", exact, "too_few", tooFew, "too_many", tooMany));
    }
  }

  public static final MetricSet<EventMetrics> METRICS =
      new MetricSet<EventMetrics>()
          .per(EventMetrics::answers, EventMetrics::labels, EventMetrics::answers)
          .per(EventMetrics::countsByWorker, EventMetrics::labels, EventMetrics::events);

  private final GatewayWorkers workers;
  private final Map<String, Sums> byWorker = new TreeMap<>();

  public EventMetrics(GatewayWorkers workers) {
    this.workers = workers;
  }

  /** Of a split request the worker that answers tells what it was handed over, too. */
  public void count(Decision decision) {
    var route = decision.route();
    var usage = decision.ending().usage();
    if (route == null || !decision.prefill().isEmpty()) return;
    if (usage.cachedTokens() < 0 || usage.promptTokens() < 0) return;
    int expected = route.promptTokens() - route.uncachedTokens();
    var sums = byWorker.computeIfAbsent(decision.decode(), _ -> new Sums());
    sums.expected += expected;
    sums.reported += usage.cachedTokens();
    if (expected == usage.cachedTokens()) sums.exact++;
    else if (expected < usage.cachedTokens()) sums.tooFew++;
    else sums.tooMany++;
    sums.answers++;
    sums.promptTokens += usage.promptTokens();
    sums.difference += Math.abs(expected - usage.cachedTokens());
    if (sums.answers == ANSWERS) judge(decision.decode(), sums);
  }

  private void judge(String worker, Sums sums) {
    boolean differs = sums.difference > DIFFERENCE_MAX * sums.promptTokens;
    if (differs != sums.differs && isSubscribed(worker)) {
      sums.differs = differs;
      if (differs) {
        LOG.log(
            WARNING,
            "worker {0}: its KV events do not match the requests: over {1} answers with {2} prompt"
                + " tokens the cached tokens were expected wrongly by {3}; see"
                + " kvasir_kv_event_blocks_dropped_total and kvasir_prompts_named_total",
            worker,
            Integer.toString(sums.answers),
            Long.toString(sums.promptTokens),
            Long.toString(sums.difference));
      } else {
        LOG.log(INFO, "worker {0}: its KV events match the requests again", worker);
      }
    }
    sums.answers = 0;
    sums.promptTokens = 0;
    sums.difference = 0;
  }

  private boolean isSubscribed(String worker) {
    return workers.entries().stream()
        .anyMatch(entry -> entry.worker().events() != null && entry.worker().name().equals(worker));
  }

  private static void answers(Rows<Map.Entry<String, Sums>> rows) {
    rows.counter(
            "kvasir_worker_expected_cached_tokens_total",
            "Cached tokens the index expected, of requests whose answer reports them.",
            e -> e.getValue().expected)
        .counter(
            "kvasir_worker_actual_cached_tokens_total",
            "Cached tokens that the worker reported, of the same requests.",
            e -> e.getValue().reported)
        .counters(
            "kvasir_worker_predictions_total",
            "Answers by how the expected cached tokens compare with those reported.",
            "result",
            e -> e.getValue().predictions());
  }

  private static void events(Rows<Map.Entry<String, WorkerEvents.Counts>> rows) {
    rows.counter(
            "kvasir_kv_event_batches_total", "Batches of KV events.", e -> e.getValue().batches())
        .counter(
            "kvasir_kv_event_connects_total",
            "Connections for KV events.",
            e -> e.getValue().connects())
        .counter(
            "kvasir_kv_event_gaps_total",
            "Gaps that made the index forget.",
            e -> e.getValue().gaps())
        .counter(
            "kvasir_kv_event_restarts_total",
            "Restarts that the events show.",
            e -> e.getValue().restarts())
        .counter(
            "kvasir_kv_event_replays_total",
            "Requests to repeat KV events.",
            e -> e.getValue().replays())
        .gauge(
            "kvasir_kv_event_lag_seconds",
            "Age of the last batch of KV events when it was taken in, by the worker's clock.",
            e -> e.getValue().lagSeconds() < 0 ? Double.NaN : e.getValue().lagSeconds())
        .counters(
            "kvasir_kv_event_blocks_dropped_total",
            "Blocks of KV events that the index leaves out.",
            "reason",
            e -> e.getValue().dropped())
        .counters(
            "kvasir_kv_event_messages_dropped_total",
            "Messages of KV events that are not read, and connections broken for them.",
            "reason",
            e -> e.getValue().messagesDropped());
  }

  /** By worker; one that is gone is counted no longer: workers are few, but come and go. */
  private Set<Map.Entry<String, Sums>> answers() {
    byWorker.keySet().retainAll(workers.entries().stream().map(p -> p.worker().name()).toList());
    return byWorker.entrySet();
  }

  private Set<Map.Entry<String, WorkerEvents.Counts>> countsByWorker() {
    var countsByName = new TreeMap<String, WorkerEvents.Counts>();
    for (var entry : workers.shown()) {
      var events = entry.worker().events();
      if (events != null) countsByName.put(entry.worker().name(), events.counts());
    }
    return countsByName.entrySet();
  }

  private static List<Label> labels(Map.Entry<String, ?> row) {
    return List.of(new Label("worker", row.getKey()));
  }
}
