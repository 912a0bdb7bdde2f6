package dev.kvasir.cli.serve;

import dev.kvasir.Nullable;
import dev.kvasir.cli.process.OutputFile;
import dev.kvasir.cli.settings.Deployment;
import dev.kvasir.cli.settings.WorkerSettings;
import dev.kvasir.cli.tier.TierCommand;
import dev.kvasir.cli.workers.WorkerDiscovery;
import dev.kvasir.cli.workers.WorkerSources;
import dev.kvasir.cli.workers.WorkerSources.Source;
import dev.kvasir.cli.workers.WorkersApi;
import dev.kvasir.embedded.EmbeddedCacheState;
import dev.kvasir.embedded.LoadedModel;
import dev.kvasir.embedded.LocalEngine;
import dev.kvasir.embedded.step.StepLines;
import dev.kvasir.events.EventRoom;
import dev.kvasir.events.SubscriberSettings;
import dev.kvasir.gateway.Gateway;
import dev.kvasir.gateway.journal.NameKey;
import dev.kvasir.gateway.picker.Picker;
import dev.kvasir.gateway.picker.PickerSettings;
import dev.kvasir.gateway.prompt.FileTokenizers;
import dev.kvasir.gateway.prompt.ModelText;
import dev.kvasir.gateway.replica.IndexSnapshots;
import dev.kvasir.gateway.replica.ReplicaGroup;
import dev.kvasir.gateway.request.PromptTokenizer;
import dev.kvasir.gateway.worker.Worker;
import dev.kvasir.model.ModelShape;
import dev.kvasir.net.Json;
import dev.kvasir.net.Network;
import dev.kvasir.net.OwnedResources;
import dev.kvasir.net.Threads;
import dev.kvasir.net.auth.Access;
import dev.kvasir.net.server.Endpoint;
import dev.kvasir.net.server.Exchange;
import dev.kvasir.offload.state.TieredCacheState;
import dev.kvasir.tierd.TierDaemon;
import dev.kvasir.tierd.feed.TierFeedReader;
import dev.kvasir.tools.doctor.ReportedKvMemory;
import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/** A running server: the gateway, and embedded engines if there are any. */
final class Serving implements AutoCloseable {
  private static final int SPARE_TIERS_MAX = 16;
  private static final Duration START_MAX = Duration.ofSeconds(30);
  private static final Duration START_SLACK = Duration.ofSeconds(5);
  private static final Duration DRAIN_MAX = Duration.ofSeconds(30);

  private final OwnedResources owned = new OwnedResources();

  /** Writes to the capture, on the engines' loop, the steps that are not there yet. */
  private Runnable lastSteps = () -> {};

  private final Map<WorkerSettings, ListenedEvents> listened = new LinkedHashMap<>();
  private final EventRoom eventRoom = EventRoom.ofHeap();

  /** The tier daemons below workers, by where they tell what they hold. */
  private final Map<String, TierFeedReader> tiers = new LinkedHashMap<>();

  private final String version;
  private final Network network;
  private Optional<EmbeddedWorkers> embedded = Optional.empty();

  /** The tiers below workers of this machine; null where the settings have none. */
  private @Nullable TierDaemon below;

  private final WorkerSources sources = new WorkerSources(this::use);
  private Optional<Gateway> gateway = Optional.empty();
  private Optional<Picker> picker = Optional.empty();

  /** The settings that are in force. */
  private Deployment settings = Deployment.DEFAULT;

  private volatile Optional<ReplicaGroup> replicas = Optional.empty();

  /** Asks other gateways, and tells them; null where there are none. */
  private @Nullable IndexSnapshots snapshots;

  private volatile boolean catchingUp;

  private Serving(String version) {
    this.version = version;
    network = owned.add(Network.open());
  }

  /**
   * Starts all that the settings ask for.
   *
   * @param usualFolder where files lie, unless the settings say otherwise
   */
  static Serving of(Deployment settings, Path usualFolder, String version) throws IOException {
    settings.requireServable();
    OutputFile.require(settings.files().capture(), settings.files().requests());
    // Read before anything is opened: what is wrong with it is told at once.
    settings.listen().keys();
    return settings.isEmbedded()
        ? embedded(settings, settings.folder(usualFolder), version)
        : inFront(settings, settings.folder(usualFolder), new Serving(version));
  }

  /** The gateway in front of workers that run elsewhere. */
  private static Serving inFront(Deployment settings, Path folder, Serving serving)
      throws IOException {
    try {
      serving.sources.begin(Source.SETTINGS, settings.workers());
      var discovery = serving.owned.add(WorkerDiscovery.of(settings.discovery(), serving.sources));
      var tierConfig = settings.tierConfig();
      if (tierConfig != null) {
        serving.below = serving.owned.add(TierCommand.open(TierCommand.read(tierConfig, folder)));
      }
      var present = serving.sources.all();
      serving.front(settings.withFound(present), workers(present), folder, 0);
      for (var worker : present) serving.listen(serving.gateway(), worker);
      serving.awaitBeginning();
      serving.gateway().addMetrics(WorkerSources.METRICS.of(serving.sources));
      discovery.run();
      return serving;
    } catch (IOException | RuntimeException e) {
      serving.close();
      throw e;
    }
  }

  /** The gateway in front of embedded engines. */
  private static Serving embedded(Deployment settings, Path folder, String version)
      throws IOException {
    // The model is read on one processor while the network starts on another.
    var loading = new FutureTask<>(() -> settings.engines().load(folder));
    Thread.ofPlatform().name("kvasir-load").daemon(true).start(loading);
    var serving = new Serving(version);
    try {
      LoadedModel model = serving.owned.add(loaded(loading));
      var started =
          serving.owned.add(EmbeddedWorkers.start(serving.network, model, settings, folder));
      serving.embedded = Optional.of(started);
      int contextTokens = model.served().contextTokens();
      serving.front(settings, started.workers(), folder, contextTokens);
      started.forwardEvents(serving.gateway());
      var group = started.group();
      var steps = new StepLines(group.loop(), serving.gateway()::capture);
      serving.lastSteps = steps::flush;
      group.reportSteps(steps);
      serving.gateway().awaitModel(START_MAX);
      group.warmUp();
      return serving;
    } catch (IOException | RuntimeException e) {
      serving.close();
      throw e;
    }
  }

  private static LoadedModel loaded(Future<LoadedModel> loading) throws IOException {
    try {
      return loading.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof IOException failure) throw failure;
      if (e.getCause() instanceof RuntimeException mistake) throw mistake;
      throw new IllegalStateException("the model could not be loaded", e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while the model was loaded", e);
    }
  }

  private static List<Worker> workers(List<WorkerSettings> settings) {
    return settings.stream().map(WorkerSettings::worker).toList();
  }

  private void front(Deployment settings, List<Worker> workers, Path folder, int contextTokens)
      throws IOException {
    this.settings = settings;
    var given = settings.routing().tenantSecret();
    var secret = given == null ? TenantSecret.in(folder) : NameKey.of(given.reveal());
    var gatewaySettings =
        settings.gateway(workers, contextTokens, settings.listen().keys(), secret);
    Supplier<TieredCacheState> tieredCache =
        embedded
            .<Supplier<TieredCacheState>>map(own -> new EmbeddedCacheState(own.group()))
            .orElse(below == null ? () -> TieredCacheState.NONE : below::memory);
    var texts = embedded.isPresent() ? Map.<String, ModelText>of() : settings.routing().texts();
    var engines = embedded.map(EmbeddedWorkers::engines).orElse(List.of());
    var tokens = gatewaySettings.routing().settings().blockTokens();
    var peer = peer(settings, terms(settings, tokens), secret);
    var extensions =
        new Gateway.Extensions(
            version, tieredCache, adminEndpoints(), tokenizer(texts), engines, peer);
    var started = owned.add(Gateway.start(network, gatewaySettings, extensions));
    gateway = Optional.of(started);
    join(settings, started, secret);
    if (snapshots != null) started.addMetrics(IndexSnapshots.METRICS.of(snapshots));
    var head = new CaptureHead(settings, workers, contextTokens, bytesPerToken());
    var servers =
        settings.isEmbedded()
            ? List.<String>of()
            : workers.stream().map(each -> each.url().toString()).toList();
    var key = gatewaySettings.workerKey();
    started.captureHead(
        () -> head.line(ReportedKvMemory.ofAll(servers, key.isEmpty() ? null : key)));
  }

  /** Returns what it exchanges with other gateways. */
  private Gateway.Peer peer(Deployment settings, List<String> terms, NameKey secret) {
    var replicas = settings.replicas();
    if (!replicas.hasSnapshots()) return Gateway.Peer.NONE;
    var members =
        new IndexSnapshots.Members() {
          @Override
          public List<String> addresses() {
            return Serving.this.replicas.map(ReplicaGroup::addresses).orElse(List.of());
          }

          @Override
          public boolean isLooking() {
            return replicas.isOn()
                && Serving.this.replicas.map(ReplicaGroup::isLooking).orElse(true);
          }
        };
    var snapshotSettings =
        new IndexSnapshots.Settings(
            replicas.peers(), terms, replicas.snapshotTime(), settings.listen().tls());
    var opened =
        owned.add(new IndexSnapshots(network, snapshotSettings, secret, members, () -> gateway));
    snapshots = opened;
    catchingUp = true;
    return new Gateway.Peer(List.of(opened.endpoint()), () -> catchingUp);
  }

  /** Waits until what others know of the workers' caches has been taken over, or was not told. */
  private void awaitBeginning() {
    for (var each : listened.values()) {
      var time = settings.replicas().snapshotTime().plus(START_SLACK);
      var _ = each.begun().completeOnTimeout(false, time.toMillis(), TimeUnit.MILLISECONDS).join();
    }
    catchingUp = false;
  }

  /** Returns the settings that must be the same in all gateways that work together. */
  private List<String> terms(Deployment settings, int blockTokens) {
    var routing = settings.routing();
    return List.of(
        "version=" + version,
        "block-size=" + blockTokens,
        "naming=" + settings.naming().name().toLowerCase(Locale.ROOT),
        "policy=" + routing.policy(),
        "placement=" + routing.placement());
  }

  /**
   * Returns the address at which others reach the gateway: the one at which it listens, or, if it
   * listens at all addresses, one of this machine.
   */
  private static String address(Deployment settings, Gateway started) throws IOException {
    var replicas = settings.replicas();
    if (!replicas.hasSnapshots()) return "";
    if (!replicas.address().isEmpty()) return replicas.address();
    var listens = InetAddress.getByName(settings.listen().host());
    var reached = listens.isAnyLocalAddress() ? InetAddress.getLocalHost() : listens;
    var host = reached.getHostAddress();
    if (reached instanceof Inet6Address) host = "[" + host.replaceFirst("%.*", "") + "]";
    return (settings.listen().tls() == null ? "http://" : "https://") + host + ":" + started.port();
  }

  /** Joins a group of gateways if the settings name one. */
  private void join(Deployment settings, Gateway started, NameKey secret) throws IOException {
    var replicas = settings.replicas();
    if (!replicas.isOn()) return;
    var name = InetAddress.getLocalHost().getHostName() + ":" + started.port();
    var group =
        replicas.replicas(name, System.currentTimeMillis(), terms(settings, started.blockTokens()));
    this.replicas =
        Optional.of(
            owned.add(
                ReplicaGroup.join(
                    started,
                    group,
                    replicas.remote().firstNode(),
                    replicas.channel(),
                    secret,
                    address(settings, started))));
  }

  /** Starts the endpoint picker for Envoy. */
  Picker pick(PickerSettings settings) {
    var started = owned.add(Picker.start(network, gateway(), settings));
    picker = Optional.of(started);
    return started;
  }

  /** Returns the bytes of the K and V of a token on embedded engines, or 0 without such engines. */
  private long bytesPerToken() {
    return embedded
        .map(own -> own.group().model().device().blockBytes() / ModelShape.BLOCK_TOKENS)
        .orElse(0);
  }

  /** The tokens of embedded engines are known here; others' by their files, or by asking. */
  private UnaryOperator<PromptTokenizer> tokenizer(Map<String, ModelText> texts) {
    if (embedded.isPresent()) {
      var own = new EngineTokenizer(embedded.get().group(), network);
      return _ -> own;
    }
    return workers -> new FileTokenizers(texts, workers);
  }

  /**
   * Embedded engines have figures of their own, and can be started again and reset; other workers
   * can be added and removed.
   */
  private List<Endpoint> adminEndpoints() {
    if (embedded.isEmpty()) {
      var endpoints = new ArrayList<>(new WorkersApi(sources).endpoints());
      endpoints.add(ReplicaGroup.endpoint(() -> replicas));
      return endpoints;
    }
    return List.of(
        Endpoint.get("/metrics/", Access.PUBLIC, this::metrics),
        Endpoint.post("/workers/restart", Access.ADMIN, this::restart),
        Endpoint.post("/reset_prefix_cache", Access.ADMIN, this::reset));
  }

  private void metrics(Exchange exchange) {
    var name = exchange.path().substring(exchange.path().lastIndexOf('/') + 1);
    embedded.orElseThrow().engine(name).metrics(exchange);
  }

  private void reset(Exchange exchange) {
    embedded
        .orElseThrow()
        .group()
        .reset(
            report ->
                exchange
                    .context()
                    .runOnContext(_ -> exchange.answer(report.status(), report.json())));
  }

  private void restart(Exchange exchange) {
    var name = Json.read(exchange.body().getBytes()).path("worker").asString("");
    var engine = embedded.orElseThrow().engine(name);
    // It waits for answers under way.
    exchange.answerApart(
        () -> {
          restart(engine);
          return "{}";
        });
  }

  private void restart(LocalEngine engine) {
    gateway().drain(engine.name());
    try {
      engine.restart(DRAIN_MAX);
    } finally {
      gateway().resume(engine.name());
    }
  }

  /** Applies the settings that can change at run time. */
  void use(Deployment settings) throws IOException {
    if (settings.isEmbedded() != embedded.isPresent()) {
      throw new IllegalArgumentException(
          "cannot switch between embedded engines and remote workers without a restart");
    }
    var keys = settings.listen().keys();
    // What is most likely to be wrong comes first: then nothing is changed.
    var tls = settings.listen().tls();
    if (tls != null) {
      gateway().use(tls);
      picker.ifPresent(each -> each.use(tls));
    }
    if (embedded.isEmpty()) sources.set(Source.SETTINGS, settings.workers());
    gateway().use(keys);
    var limits = settings.limits();
    var before = this.settings.limits();
    if (!limits.queue().equals(before.queue())) gateway().use(limits.queue());
    if (!limits.admission().equals(before.admission())) {
      gateway().admit(limits.admission().policyIfAny());
    }
    this.settings = settings;
  }

  private void use(List<WorkerSettings> workers) throws IOException {
    for (var worker : List.copyOf(listened.keySet())) {
      var events = workers.contains(worker) ? null : listened.remove(worker);
      if (events != null) events.close();
    }
    gateway().use(workers(workers));
    for (var worker : workers) if (!listened.containsKey(worker)) listen(gateway(), worker);
    closeSpare(workers.stream().map(WorkerSettings::tier).toList());
  }

  /** Listens on to a few daemons without a worker: a worker that comes back finds all known. */
  private void closeSpare(List<String> used) {
    var spare = tiers.keySet().stream().filter(each -> !used.contains(each)).toList();
    for (int i = 0; i < spare.size() - SPARE_TIERS_MAX; i++) {
      var gone = tiers.remove(spare.get(i));
      if (gone != null) gone.close();
    }
  }

  private void listen(Gateway started, WorkerSettings worker) throws IOException {
    if (worker.events().isEmpty()) return;
    var below = below(started, worker);
    listened.put(worker, ListenedEvents.start(started, worker, below, snapshots, eventRoom));
  }

  /** One reader for all workers above a daemon: what one of them tells holds for the others. */
  private @Nullable TierFeedReader below(Gateway started, WorkerSettings worker)
      throws IOException {
    if (worker.tier().isEmpty()) return null;
    var known = tiers.get(worker.tier());
    if (known != null) return known;
    @Nullable String replay = worker.tierReplay().isEmpty() ? null : worker.tierReplay();
    var subscriberSettings = SubscriberSettings.of(worker.tier(), replay, eventRoom);
    var reader = TierFeedReader.open(started.loop(), subscriberSettings);
    tiers.put(worker.tier(), reader);
    return reader;
  }

  Gateway gateway() {
    return gateway.orElseThrow();
  }

  Optional<EmbeddedWorkers> embedded() {
    return embedded;
  }

  /**
   * Announces that it leaves and serves on for a while, then takes no new requests, finishes those
   * in flight, and saves what was computed.
   */
  void drain() {
    var restart = settings.listen().restart();
    if (restart.leaveTime().isPositive()) {
      gateway().leave();
      picker.ifPresent(Picker::leave);
      Threads.pause(restart.leaveTime());
    }
    // Envoy's requests are answered by workers, which tell the picker, not the gateway, of it.
    picker.ifPresent(each -> each.drain(restart.finishTime()));
    gateway().finish(restart.finishTime());
    embedded.ifPresent(
        workers -> {
          workers.drain(restart.finishTime());
          CompletableFuture.runAsync(lastSteps, workers.group().loop()::execute).join();
        });
    gateway().close();
  }

  @Override
  public void close() {
    listened.values().forEach(ListenedEvents::close);
    listened.clear();
    tiers.values().forEach(TierFeedReader::close);
    tiers.clear();
    owned.close();
  }
}
