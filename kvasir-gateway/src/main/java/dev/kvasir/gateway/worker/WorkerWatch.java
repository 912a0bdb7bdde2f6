package dev.kvasir.gateway.worker;

import dev.kvasir.net.Json;
import dev.kvasir.net.LiveLoop;
import dev.kvasir.net.Refused;
import dev.kvasir.net.worker.LocalWorker;
import dev.kvasir.net.worker.WorkerMessage;
import dev.kvasir.router.worker.WorkerEntry;
import dev.kvasir.time.RunningTime;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Asks one worker, again and again, how it is, how busy it is and what it serves.
 *
 * <p>A worker that was down is ready when it is well and has told its models; one that does not
 * tell them at all is ready when it is well.
 */
public final class WorkerWatch {
  private static final int ROUNDS_BETWEEN_MODELS = 10;
  private static final Duration PATIENCE_MIN = Duration.ofSeconds(1);

  /** Of the first round: a process that has just started is slow itself. */
  private static final Duration FIRST_PATIENCE_MIN = Duration.ofSeconds(6);

  /** More than workers have to say to a probe, whatever they measure. */
  private static final int PROBE_BYTES_MAX = 4 << 20;

  private final Upstream upstream;
  private final LiveLoop loop;
  private final GatewayWorkers workers;
  private final WorkerEntry<LiveWorker> entry;
  private final int blockTokens;
  private final Duration pace;
  private final Context context;
  private long rounds;
  private boolean probing;
  private boolean begun;
  private boolean modelsKnown;

  /** True if the worker is asked in this round what it serves. */
  private boolean due;

  private boolean over;
  private long timer = -1;

  public WorkerWatch(
      Upstream upstream,
      LiveLoop loop,
      GatewayWorkers workers,
      WorkerEntry<LiveWorker> entry,
      int blockTokens,
      Duration pace,
      Context context) {
    this.upstream = upstream;
    this.loop = loop;
    this.workers = workers;
    this.entry = entry;
    this.blockTokens = blockTokens;
    this.pace = pace;
    this.context = context;
  }

  /** Begins to ask; answers once the first round is over, and fails where the worker did. */
  public Future<?> start() {
    Promise<Void> first = Promise.promise();
    context.runOnContext(
        _ -> {
          probe().onComplete(_ -> begun = true).<Void>mapEmpty().onComplete(first);
          timer = context.owner().setPeriodic(Math.max(1, pace.toMillis()), _ -> probe());
        });
    return first.future();
  }

  /** Asks no more. */
  public Future<?> stop() {
    Promise<Void> stopped = Promise.promise();
    context.runOnContext(
        _ -> {
          context.owner().cancelTimer(timer);
          over = true;
          stopped.complete();
        });
    return stopped.future();
  }

  /** One round, unless the one before is not over. */
  private Future<?> probe() {
    if (probing) return Future.succeededFuture();
    probing = true;
    var local = upstream.local(entry.worker().config());
    return (local == null ? probeServer() : probe(local)).onComplete(_ -> probing = false);
  }

  private Future<?> probe(LocalWorker local) {
    Promise<Void> probed = Promise.promise();
    local.observe(
        state -> {
          onLoop(() -> observed(state));
          context.runOnContext(_ -> probed.tryComplete());
        });
    var timer = RunningTime.after(new VertxLoop(context), patience(), () -> probed.tryFail("late"));
    return probed
        .future()
        .onComplete(_ -> timer.cancel())
        .onFailure(_ -> onLoop(() -> workers.table().probeFailed(entry.id(), loop.nanos())));
  }

  private void observed(LocalWorker.State state) {
    workers.serves(entry.id(), state.models());
    workers.update(entry.id(), state.report());
    if (state.isHealthy()) workers.table().probeSucceeded(entry.id(), loop.nanos());
    else workers.table().probeFailed(entry.id(), loop.nanos());
  }

  private Future<?> probeServer() {
    due = !modelsKnown || ++rounds % ROUNDS_BETWEEN_MODELS == 0;
    return get(entry.worker().config(), "/health", 499)
        .compose(_ -> due ? requestModels() : Future.succeededFuture())
        .compose(
            _ -> {
              onLoop(() -> workers.probeSucceeded(entry.id(), loop.nanos()));
              return more();
            },
            failure -> {
              modelsKnown = false;
              var why = String.valueOf(failure.getMessage());
              onLoop(() -> workers.probeFailed(entry.id(), why, loop.nanos()));
              return Future.failedFuture(failure);
            });
  }

  private Future<?> more() {
    var metrics = get(entry.worker().config(), "/metrics", 200).onSuccess(this::busy);
    return (due ? Future.join(metrics, engine()) : metrics).otherwiseEmpty();
  }

  /**
   * Fails if the models of the worker are unknown and cannot be read now; a worker that answers
   * anything else has none.
   */
  private Future<?> requestModels() {
    return request(entry.worker().config(), "/v1/models")
        .compose(
            reply -> {
              if (reply.status() == 200) models(reply.body());
              return reply.status() < 500
                  ? Future.succeededFuture()
                  : Future.failedFuture("/v1/models answered " + reply.status());
            })
        .recover(failure -> modelsKnown ? Future.succeededFuture() : Future.failedFuture(failure));
  }

  private void busy(Buffer body) {
    var text = body.toString(StandardCharsets.UTF_8);
    var report = WorkerMetrics.read(text, blockTokens, entry.worker().config().rank());
    onLoop(() -> workers.update(entry.id(), report));
  }

  private void models(Buffer body) {
    try {
      Map<String, String> models = new LinkedHashMap<>();
      for (var model : Json.read(body.getBytes()).path("data")) {
        var id = model.path("id").asString("");
        if (!id.isEmpty()) models.put(id, model.toString());
      }
      modelsKnown = !models.isEmpty();
      onLoop(() -> workers.serves(entry.id(), models));
    } catch (Refused e) {
      modelsKnown = false;
    }
  }

  /** Under which name others fetch from it, which a worker tells at another address. */
  private Future<?> engine() {
    var worker = entry.worker().config();
    if (worker.connector() != Connector.MOONCAKE || worker.bootstrap().isEmpty()) {
      return Future.succeededFuture();
    }
    var place = Worker.of("http://" + worker.bootstrap());
    return get(place, "/query", 200)
        .onSuccess(
            body -> {
              try {
                var engine = Json.read(body.getBytes()).path("0").path("engine_id").asString("");
                onLoop(() -> workers.named(entry.id(), engine));
              } catch (Refused e) {
                modelsKnown = false;
              }
            });
  }

  private Future<WholeCall.Reply> request(Worker worker, String path) {
    var message = WorkerMessage.get(path);
    return WholeCall.send(upstream, context, worker, message, PROBE_BYTES_MAX, patience());
  }

  private Future<Buffer> get(Worker worker, String path, int statusMax) {
    return request(worker, path)
        .compose(
            reply ->
                reply.status() <= statusMax
                    ? Future.succeededFuture(reply.body())
                    : Future.failedFuture(path + " answered " + reply.status()));
  }

  private Duration patience() {
    var least = begun ? PATIENCE_MIN : FIRST_PATIENCE_MIN;
    return pace.compareTo(least) < 0 ? least : pace;
  }

  private void onLoop(Runnable step) {
    if (!over) loop.execute(step);
  }
}
