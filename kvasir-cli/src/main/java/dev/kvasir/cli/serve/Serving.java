package dev.kvasir.cli.serve;

import dev.kvasir.live.dashboard.LadderState;
import dev.kvasir.live.engine.LoadedModel;
import dev.kvasir.live.events.EngineBlocks;
import dev.kvasir.live.events.KvEventSubscriber;
import dev.kvasir.live.events.SubscriberSettings;
import dev.kvasir.live.gateway.Gateway;
import dev.kvasir.live.http.Network;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;
import org.zeromq.ZContext;

/** All that serves together: perhaps engines of our own, and the gateway in front. */
final class Serving implements AutoCloseable {
  private static final int BLOCKS_MAX = 1 << 20;
  private static final Duration DRAIN_MAX = Duration.ofSeconds(30);

  private final Deque<AutoCloseable> owned = new ArrayDeque<>();
  private final String version;
  private final Network network;
  private final ZContext sockets;
  private Optional<EmbeddedWorkers> embedded = Optional.empty();
  private Optional<Gateway> gateway = Optional.empty();

  private Serving(String version) {
    this.version = version;
    network = own(Network.open());
    sockets = own(new ZContext());
  }

  /** The gateway in front of workers that run elsewhere. */
  static Serving of(List<WorkerText> workers, GatewayOptions options, String version)
      throws IOException {
    var serving = new Serving(version);
    try {
      serving.front(workers, options, "");
      return serving;
    } catch (IOException | RuntimeException e) {
      serving.close();
      throw e;
    }
  }

  /** The gateway in front of engines of our own. */
  static Serving of(EmbeddedOptions engines, Path folder, GatewayOptions options, String version)
      throws IOException {
    // The model is read on one processor while the network starts on another.
    var loading = new FutureTask<>(() -> engines.load(folder));
    Thread.ofPlatform().name("kvasir-load").daemon(true).start(loading);
    var serving = new Serving(version);
    try {
      LoadedModel model = serving.own(loaded(loading));
      var started =
          serving.own(
              EmbeddedWorkers.start(serving.network, serving.sockets, model, engines, folder));
      serving.embedded = Optional.of(started);
      serving.front(started.workers(), options, model.served().name());
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

  private void front(List<WorkerText> workers, GatewayOptions options, String model)
      throws IOException {
    var settings = options.settings(workers);
    Supplier<LadderState> ladder =
        embedded
            .<Supplier<LadderState>>map(own -> new EmbeddedLadder(own.group()))
            .orElse(() -> LadderState.NONE);
    var started = own(Gateway.start(network, settings, version, ladder));
    gateway = Optional.of(started);
    for (var worker : workers) listen(started, worker, model);
  }

  private void listen(Gateway started, WorkerText worker, String model) throws IOException {
    var events = worker.events();
    if (events == null) return;
    var blocks =
        new EngineBlocks(
            (adapter, salt) -> Gateway.hasher(adapter.isEmpty() ? model : adapter, salt),
            started.blockTokens(),
            BLOCKS_MAX,
            started.events(worker.worker().name()));
    var settings = SubscriberSettings.of(events, worker.replay());
    own(new KvEventSubscriber(sockets, started.loop(), settings, blocks));
  }

  private <T extends AutoCloseable> T own(T part) {
    owned.push(part);
    return part;
  }

  Gateway gateway() {
    return gateway.orElseThrow();
  }

  Optional<EmbeddedWorkers> embedded() {
    return embedded;
  }

  /** Takes nothing new, ends what is under way, and saves what was computed. */
  void drain() {
    gateway().stop(DRAIN_MAX);
    embedded.ifPresent(workers -> workers.drain(DRAIN_MAX));
  }

  @Override
  public void close() {
    while (!owned.isEmpty()) {
      try {
        owned.pop().close();
      } catch (Exception e) {
        throw new IllegalStateException("a part of the server could not be closed", e);
      }
    }
  }
}
