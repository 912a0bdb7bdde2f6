package dev.kvasir.live.gateway.journal;

import static java.lang.System.Logger.Level.INFO;
import static java.lang.System.Logger.Level.WARNING;

import dev.kvasir.live.gateway.worker.GatewayWorkers;
import dev.kvasir.live.gateway.worker.WorkerEvents;
import dev.kvasir.live.metrics.MetricsText;
import dev.kvasir.live.metrics.MetricsText.Label;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToLongFunction;

/**
 * Whether what workers tell by KV events is what requests find there; belongs to the router's loop.
 *
 * <p>Of every request the cached tokens that the router expected stand beside those that the worker
 * told in its answer. Where the two lie far apart for a worker with KV events, its events do not
 * match the requests, and that is logged once until they match again.
 */
public final class EventMetrics {
  private static final System.Logger LOG = System.getLogger(EventMetrics.class.getName());

  /** So many answers are judged together. */
  public static final int ANSWERS = 32;

  /** Which share of the prompts' tokens the two may differ by. */
  private static final double DIFFERENCE_MAX = 0.25;

  /** The sums of one worker. */
  private static final class Sums {
    private long expected;
    private long told;
    private long exact;
    private long tooFew;
    private long tooMany;
    private int answers;
    private long promptTokens;
    private long difference;
    private boolean differs;
  }

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
    sums.told += usage.cachedTokens();
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
    if (differs != sums.differs && isHeard(worker)) {
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

  private boolean isHeard(String worker) {
    return workers.entries().stream()
        .anyMatch(entry -> entry.worker().events() != null && entry.worker().name().equals(worker));
  }

  public void write(MetricsText out) {
    // A worker that is gone is counted no longer: names of workers are few, but come and go.
    byWorker.keySet().retainAll(workers.entries().stream().map(p -> p.worker().name()).toList());
    byWorker.forEach(
        (worker, sums) ->
            out.counter(
                "kvasir_worker_expected_cached_tokens_total",
                "Cached tokens the index expected, of requests whose answer tells them.",
                sums.expected,
                new Label("worker", worker)));
    byWorker.forEach(
        (worker, sums) ->
            out.counter(
                "kvasir_worker_actual_cached_tokens_total",
                "Cached tokens by the worker's account, of the same requests.",
                sums.told,
                new Label("worker", worker)));
    byWorker.forEach((worker, sums) -> predictions(out, worker, sums));
    var heard = new TreeMap<String, WorkerEvents.Counts>();
    for (var entry : workers.shown()) {
      var events = entry.worker().events();
      if (events != null) heard.put(entry.worker().name(), events.counts());
    }
    each(out, heard, "batches", "Batches of KV events.", WorkerEvents.Counts::batches);
    each(out, heard, "connects", "Connections for KV events.", WorkerEvents.Counts::connects);
    each(out, heard, "gaps", "Gaps that made the index forget.", WorkerEvents.Counts::gaps);
    each(out, heard, "restarts", "Restarts that the events show.", WorkerEvents.Counts::restarts);
    each(out, heard, "replays", "Requests to repeat KV events.", WorkerEvents.Counts::replays);
    heard.forEach((worker, counts) -> lag(out, worker, counts.lagSeconds()));
    heard.forEach((worker, counts) -> blocks(out, worker, counts.dropped()));
    heard.forEach((worker, counts) -> messages(out, worker, counts.messagesDropped()));
  }

  private static void each(
      MetricsText out,
      Map<String, WorkerEvents.Counts> heard,
      String name,
      String help,
      ToLongFunction<WorkerEvents.Counts> count) {
    heard.forEach(
        (worker, counts) ->
            out.counter(
                "kvasir_kv_event_" + name + "_total",
                help,
                count.applyAsLong(counts),
                new Label("worker", worker)));
  }

  private static void predictions(MetricsText out, String worker, Sums sums) {
    var results = new TreeMap<String, Long>();
    results.put("exact", sums.exact);
    results.put("too_few", sums.tooFew);
    results.put("too_many", sums.tooMany);
    results.forEach(
        (result, count) ->
            out.counter(
                "kvasir_worker_predictions_total",
                "Answers by how the expected cached tokens compare with those told.",
                count,
                new Label("worker", worker),
                new Label("result", result)));
  }

  private static void lag(MetricsText out, String worker, double seconds) {
    if (seconds < 0) return;
    var help = "Age of the last batch of KV events when it was taken in, by the worker's clock.";
    out.gauge("kvasir_kv_event_lag_seconds", help, seconds, new Label("worker", worker));
  }

  private static void blocks(MetricsText out, String worker, Map<String, Long> dropped) {
    dropped.forEach(
        (reason, count) ->
            out.counter(
                "kvasir_kv_event_blocks_dropped_total",
                "Blocks told by KV events that the index leaves out.",
                count,
                new Label("worker", worker),
                new Label("reason", reason)));
  }

  private static void messages(MetricsText out, String worker, Map<String, Long> dropped) {
    dropped.forEach(
        (reason, count) ->
            out.counter(
                "kvasir_kv_event_messages_dropped_total",
                "Messages of KV events that are not read, and connections broken for them.",
                count,
                new Label("worker", worker),
                new Label("reason", reason)));
  }
}
