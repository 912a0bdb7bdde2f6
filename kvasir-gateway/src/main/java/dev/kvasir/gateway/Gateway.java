package dev.kvasir.gateway;

import dev.kvasir.Nullable;
import dev.kvasir.events.WorkerEvents;
import dev.kvasir.gateway.dashboard.Dashboard;
import dev.kvasir.gateway.journal.Decision;
import dev.kvasir.gateway.journal.EventMetrics;
import dev.kvasir.gateway.journal.Journal;
import dev.kvasir.gateway.journal.Recent;
import dev.kvasir.gateway.request.BlockNamer;
import dev.kvasir.gateway.request.GatewayParts;
import dev.kvasir.gateway.request.PromptNaming;
import dev.kvasir.gateway.request.PromptTokenizer;
import dev.kvasir.gateway.request.RequestReader;
import dev.kvasir.gateway.request.WorkerTokenizer;
import dev.kvasir.gateway.worker.GatewayWorkers;
import dev.kvasir.gateway.worker.Upstream;
import dev.kvasir.gateway.worker.Worker;
import dev.kvasir.gateway.worker.WorkerWatch;
import dev.kvasir.kv.name.BlockHasher;
import dev.kvasir.net.LiveLoop;
import dev.kvasir.net.Network;
import dev.kvasir.net.auth.Access;
import dev.kvasir.net.auth.ApiKeys;
import dev.kvasir.net.metrics.MetricsText;
import dev.kvasir.net.openai.SessionHints;
import dev.kvasir.net.server.Endpoint;
import dev.kvasir.net.server.Endpoints;
import dev.kvasir.net.server.HttpFront;
import dev.kvasir.net.server.HttpSettings;
import dev.kvasir.net.worker.LocalWorker;
import dev.kvasir.offload.state.TieredCacheState;
import dev.kvasir.router.Router;
import dev.kvasir.router.flow.FlowSettings;
import dev.kvasir.router.flow.QueueLimits;
import dev.kvasir.router.flow.RequestFlow;
import dev.kvasir.router.index.BlockUnits;
import dev.kvasir.router.index.KvFeed;
import dev.kvasir.router.limit.AdmissionPolicy;
import dev.kvasir.router.view.Availability;
import io.vertx.core.Context;
import io.vertx.core.Future;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * A server in front of workers: it takes requests as they would, sends each to the one that can
 * answer it best, and brings the answer back as it comes.
 */
public final class Gateway implements AutoCloseable {
  private static final Duration STOP_TIME = Duration.ofSeconds(30);
  private static final Duration LOOK_PACE = Duration.ofMillis(20);

  /** The time that a start waits for the slowest of its workers where another one is well. */
  private static final Duration FIRST_PROBES = Duration.ofSeconds(1);

  private static final int CONNECTIONS_PER_WORKER = 16_384;

  private final LiveLoop loop;
  private final int blockTokens;
  private final Router router;
  private final PromptTokenizer tokenizer;
  private final Upstream upstream;
  private final GatewayParts parts;
  private final Journal journal;
  private final Map<Integer, WorkerWatch> watches = new ConcurrentSkipListMap<>();
  private final Duration pace;
  private final Context watching;
  private final HttpFront api;
  private final HttpFront admin;
  private final @Nullable HttpFront metrics;
  private final AtomicBoolean closed = new AtomicBoolean();
  private final List<Consumer<MetricsText>> others = new CopyOnWriteArrayList<>();
  private volatile List<Ready> ready = List.of();
  private volatile boolean leaving;

  private Gateway(Network network, GatewaySettings settings, Extensions extensions, LiveLoop loop) {
    this.loop = loop;
    pace = settings.probePace();
    watching = network.vertx().getOrCreateContext();
    var routing = settings.routing();
    blockTokens = routing.settings().blockTokens();
    router = router(settings);
    var failures = settings.failures();
    upstream = upstream(network, settings, extensions);
    var workers = new GatewayWorkers(router, failures.ejection());
    long origin = originMicros();
    journal = Journal.open(settings.files(), origin, blockTokens);
    var events = new EventMetrics(workers);
    Consumer<Decision> recorder =
        decision -> {
          journal.write(decision);
          events.count(decision);
        };
    var flow = new RequestFlow(loop, router, workers.table(), flowSettings(settings));
    tokenizer = extensions.tokenizer().apply(workerTokenizer());
    var naming = new PromptNaming(tokenizer, routing, workers::modelNames);
    var reader =
        new RequestReader(settings.secret(), settings.files(), naming, routing.priorities());
    reader.use(settings.queue().turns());
    parts = new GatewayParts(loop, flow, workers, upstream, failures, reader, recorder);
    use(settings.workers());
    onLoopNow(this::refresh);
    var callerApi = new CallerApi(parts, router, () -> leaving, extensions.peer().catchingUp());
    var endpoints = new ArrayList<>(callerApi.endpoints());
    endpoints.addAll(extensions.peer().endpoints());
    var view = new GatewayView(this, parts, journal.recent(), origin, extensions);
    endpoints.addAll(Dashboard.endpoints(view));
    api = HttpFront.start(network, settings.api(), Endpoints.of(endpoints));
    others.addAll(others(naming, events));
    var adminApi = new AdminApi(parts, router, journal.metrics(), extensions.tieredCache(), others);
    var adminEndpoints = new ArrayList<>(adminApi.endpoints());
    adminEndpoints.addAll(extensions.admin());
    admin = HttpFront.start(network, settings.admin(), Endpoints.of(adminEndpoints));
    metrics = metricsFront(network, settings.metrics(), adminEndpoints);
  }

  /** Serves the metrics among these endpoints, and to those with the key alone. */
  private static @Nullable HttpFront metricsFront(
      Network network, @Nullable HttpSettings settings, List<Endpoint> all) {
    if (settings == null) return null;
    var found =
        all.stream()
            .filter(each -> each.path().startsWith("/metrics"))
            .map(each -> Endpoint.get(each.path(), Access.KEY, each.handler()));
    return HttpFront.start(network, settings, Endpoints.of(found.toList()));
  }

  private static Upstream upstream(
      Network network, GatewaySettings settings, Extensions extensions) {
    return new Upstream(
        network,
        CONNECTIONS_PER_WORKER,
        settings.failures().connectTime(),
        settings.workerKey(),
        extensions.engines());
  }

  /** The metrics of what stands around the router. */
  private List<Consumer<MetricsText>> others(PromptNaming naming, EventMetrics events) {
    return List.of(
        PromptNaming.METRICS.of(naming),
        SessionHints.METRICS.of(parts.reader().hints()),
        tokenizer::write,
        EventMetrics.METRICS.of(events),
        HttpFront.METRICS.of(api),
        Journal.METRICS.of(journal));
  }

  /** Begins to serve; workers that cannot be reached are asked again until they can. */
  public static Gateway start(Network network, GatewaySettings settings) {
    return start(network, settings, Extensions.NOTHING);
  }

  /** Begins to serve, as one part of a larger whole. */
  public static Gateway start(Network network, GatewaySettings settings, Extensions extensions) {
    return start(network, settings, extensions, new LiveLoop("router"));
  }

  /** Begins to serve on this loop, which is its own from now on. */
  public static Gateway start(
      Network network, GatewaySettings settings, Extensions extensions, LiveLoop loop) {
    return new Gateway(network, settings, extensions, loop);
  }

  /**
   * Extensions of the gateway by other parts of the process.
   *
   * @param version version of the product
   * @param tieredCache the memory of engines of our own; called on any thread that may wait
   * @param admin further endpoints at the address for operators
   * @param tokenizer source of the tokens of prompts, given the one that sends prompts to workers
   * @param engines the workers that are engines of this process
   * @param peer part of the gateway that is for other gateways
   */
  public record Extensions(
      String version,
      Supplier<TieredCacheState> tieredCache,
      List<Endpoint> admin,
      UnaryOperator<PromptTokenizer> tokenizer,
      List<? extends LocalWorker> engines,
      Peer peer) {
    public static final Extensions NOTHING =
        new Extensions(
            "", () -> TieredCacheState.NONE, List.of(), UnaryOperator.identity(), List.of());

    public Extensions {
      admin = List.copyOf(admin);
      engines = List.copyOf(engines);
    }

    /** Creates extensions without other gateways. */
    public Extensions(
        String version,
        Supplier<TieredCacheState> tieredCache,
        List<Endpoint> admin,
        UnaryOperator<PromptTokenizer> tokenizer,
        List<? extends LocalWorker> engines) {
      this(version, tieredCache, admin, tokenizer, engines, Peer.NONE);
    }
  }

  /**
   * A gateway among others.
   *
   * @param endpoints what others ask it for, where callers come
   * @param catchingUp whether it is not ready yet, since others know more
   */
  public record Peer(List<Endpoint> endpoints, BooleanSupplier catchingUp) {
    public static final Peer NONE = new Peer(List.of(), () -> false);

    public Peer {
      endpoints = List.copyOf(endpoints);
    }
  }

  private static FlowSettings flowSettings(GatewaySettings settings) {
    var failures = settings.failures();
    return new FlowSettings(
        settings.queue(), failures.retries(), failures.ejection(), settings.admission());
  }

  private Router router(GatewaySettings settings) {
    var routing = settings.routing();
    var fresh = routing.settings().withFreshness(freshness(settings));
    return new Router(loop, fresh, routing.pickPolicy(), routing.placementPolicy());
  }

  /** Returns how long a worker's report is believed: until it should have reported twice again. */
  private static Duration freshness(GatewaySettings settings) {
    var least = settings.routing().settings().freshness();
    var twice = settings.probePace().multipliedBy(2);
    return twice.compareTo(least) > 0 ? twice : least;
  }

  private long originMicros() {
    var now = Instant.now();
    long micros = TimeUnit.SECONDS.toMicros(now.getEpochSecond()) + now.getNano() / 1_000;
    return micros - loop.nanos() / 1_000;
  }

  private PromptTokenizer workerTokenizer() {
    return new WorkerTokenizer(upstream, this::ready, WorkerTokenizer.Time.DEFAULT);
  }

  /** A worker that takes requests, and the models it serves; none where it has not told. */
  private record Ready(Worker worker, Set<String> models) {
    boolean serves(String model) {
      return model.isEmpty() || models.isEmpty() || models.contains(model);
    }
  }

  private List<Worker> ready(String model) {
    return ready.stream().filter(each -> each.serves(model)).map(Ready::worker).toList();
  }

  /**
   * Has these workers from now on, and answers when all new ones were asked how they are, or after
   * a while when one of them is well. One that is not among them gets nothing new, and is forgotten
   * when it has ended what it has.
   */
  public void use(List<Worker> workers) {
    var added = onLoop(() -> parts.workers().have(workers, loop.nanos()));
    var first = new ArrayList<Future<?>>();
    for (var entry : added) {
      var watch =
          new WorkerWatch(upstream, loop, parts.workers(), entry, blockTokens, pace, watching);
      watches.put(entry.id(), watch);
      first.add(watch.start());
    }
    if (first.isEmpty()) return;
    var pause = watching.owner().timer(FIRST_PROBES.toMillis(), TimeUnit.MILLISECONDS);
    var some = Future.join(Future.any(first), pause);
    Network.await(Future.any(Future.join(first).otherwiseEmpty(), some));
  }

  /** Waits until a worker has told what it serves, as long as there is patience. */
  public void awaitModel(Duration patience) {
    var served =
        new CompletableFuture<Boolean>()
            .completeOnTimeout(false, patience.toNanos(), TimeUnit.NANOSECONDS);
    loop.execute(() -> lookForModel(served));
    served.join();
  }

  private void lookForModel(CompletableFuture<Boolean> served) {
    if (!parts.workers().models().isEmpty()) served.complete(true);
    else if (!served.isDone()) loop.after(LOOK_PACE, () -> lookForModel(served));
  }

  /** Takes other keys from now on. */
  public void use(ApiKeys keys) {
    api.use(keys);
    admin.use(keys);
  }

  /** Takes this certificate for new connections, as it is in its files now. */
  public void use(HttpSettings.Tls tls) {
    api.use(tls);
    if (metrics != null) metrics.use(tls);
  }

  /** Has other bounds for the queue from now on. */
  public void use(QueueLimits queue) {
    parts.reader().use(queue.turns());
    onLoopNow(() -> parts.flow().use(parts.flow().settings().with(queue)));
  }

  /** Has another admission from now on; null for none. */
  public void admit(@Nullable AdmissionPolicy admission) {
    onLoopNow(() -> parts.flow().use(parts.flow().settings().with(admission)));
  }

  /** Lets others than the router's loop know who is there, and those go who were to. */
  private void refresh() {
    for (int id : parts.workers().sweep()) {
      var watch = watches.remove(id);
      if (watch != null) watch.stop();
    }
    ready =
        parts.workers().entries().stream()
            .filter(entry -> entry.availability() == Availability.READY)
            .map(
                entry ->
                    new Ready(
                        entry.worker().config(), Set.copyOf(entry.worker().models().keySet())))
            .toList();
    prepare();
    loop.after(pace, this::refresh);
  }

  private void prepare() {
    if (ready.isEmpty()) return;
    var served = new TreeSet<String>();
    for (var each : ready) served.addAll(each.models());
    watching.runOnContext(_ -> tokenizer.prepare(watching, served));
  }

  public String url() {
    return api.url();
  }

  public int port() {
    return api.port();
  }

  public String adminUrl() {
    return admin.url();
  }

  /** Returns the URL at which metrics are read: {@link #adminUrl} if there is no other. */
  public String metricsUrl() {
    return metrics == null ? admin.url() : metrics.url();
  }

  HttpFront api() {
    return api;
  }

  HttpFront admin() {
    return admin;
  }

  /** Returns the answer to a question about the router, which is asked on its loop. */
  <T> T onLoop(Supplier<T> question) {
    var answer = new CompletableFuture<T>();
    loop.execute(
        () -> {
          try {
            answer.complete(question.get());
          } catch (RuntimeException | Error e) {
            answer.completeExceptionally(e);
          }
        });
    return answer.join();
  }

  Router router() {
    return router;
  }

  GatewayWorkers workers() {
    return parts.workers();
  }

  RequestFlow flow() {
    return parts.flow();
  }

  Recent recent() {
    return journal.recent();
  }

  /** Adds a source of further metrics; called on the loop. */
  public void addMetrics(Consumer<MetricsText> figures) {
    others.add(figures);
  }

  /** Returns what every request on its way needs. */
  public GatewayParts parts() {
    return parts;
  }

  /** The keys of callers that are taken now. */
  public ApiKeys keys() {
    return api.keys();
  }

  /** Returns the number of tokens that a block has where prompts are named. */
  public int blockTokens() {
    return blockTokens;
  }

  /** The loop on which events of workers are to be told. */
  public LiveLoop loop() {
    return loop;
  }

  /** Sends the worker nothing new, until it is to {@link #resume}. */
  public void drain(String worker) {
    onWorkers(workers -> workers.table().drain(workers.entry(worker).id()));
  }

  public void resume(String worker) {
    onWorkers(workers -> workers.table().resume(workers.entry(worker).id()));
  }

  private void onWorkers(Consumer<GatewayWorkers> change) {
    onLoopNow(() -> change.accept(parts.workers()));
  }

  /** Does it on the loop of the router, and answers when it is done. */
  private void onLoopNow(Runnable task) {
    var _ =
        onLoop(
            () -> {
              task.run();
              return 0;
            });
  }

  /**
   * Returns the target of the events of a worker's cache, called on {@link #loop} and in their
   * order.
   *
   * <p>Its blocks must have the names that requests give theirs: those of {@link #hasher}, with
   * prompts named by their tokens.
   */
  public BlockUnits.Target events(String worker) {
    return onLoop(() -> KvFeed.into(router.index(), parts.workers().entry(worker).id()));
  }

  /** Sets the event source of a worker, to check its events and to report their counts. */
  public void setEvents(String worker, WorkerEvents events) {
    onWorkers(workers -> workers.entry(worker).worker().setEvents(events));
  }

  /**
   * Adds a line to the capture, if there is one: what the simulator is to know besides requests.
   *
   * @param line made on another thread, later
   */
  public void capture(Supplier<@Nullable String> line) {
    journal.capture(line);
  }

  /** As {@link #capture}, with a line with which each file of the capture begins. */
  public void captureHead(Supplier<@Nullable String> line) {
    journal.captureHead(line);
  }

  /**
   * Names blocks as requests do.
   *
   * @param adapter the LoRA adapter; empty for the worker's own model, whatever it is called
   * @param salt as it reaches the worker; empty for none
   */
  public static BlockHasher hasher(String adapter, String salt) {
    return BlockNamer.hasher(adapter, salt);
  }

  /**
   * Says that it is not ready, and serves on: whoever spreads requests over gateways is to send the
   * next ones elsewhere.
   */
  public void leave() {
    leaving = true;
    api.leave();
  }

  /** Takes nothing new, lets what is under way end, as long as there is patience, and stops. */
  public void stop(Duration patience) {
    finish(patience);
    close();
  }

  /** Takes no new requests, and waits for those in flight for a while. */
  public void finish(Duration patience) {
    leave();
    api.stopListening(patience);
    api.drain(patience);
  }

  /** As {@link #stop}, with the usual patience for streams. */
  public void stop() {
    stop(STOP_TIME);
  }

  /** Stops at once; answers that are not out are broken off. */
  @Override
  public void close() {
    if (closed.getAndSet(true)) return;
    api.close();
    admin.close();
    if (metrics != null) metrics.close();
    Network.await(Future.join(watches.values().stream().map(WorkerWatch::stop).toList()));
    upstream.close();
    loop.close();
    journal.close();
  }
}
