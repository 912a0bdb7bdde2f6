package dev.kvasir.gateway.picker;

import dev.kvasir.gateway.Gateway;
import dev.kvasir.gateway.picker.Proto.Reader;
import dev.kvasir.gateway.picker.Proto.Writer;
import dev.kvasir.gateway.request.GatewayParts;
import dev.kvasir.net.Network;
import dev.kvasir.net.auth.ApiKeys;
import dev.kvasir.net.metrics.MetricSet;
import dev.kvasir.net.server.Bodies;
import dev.kvasir.net.server.HttpSettings;
import io.vertx.core.buffer.Buffer;
import java.time.Duration;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * Tells Envoy where requests are to go, by the protocol of the Gateway API Inference Extension: the
 * service {@code ExternalProcessor}, and that of health.
 */
public final class Picker implements AutoCloseable {
  private static final String PROCESS = "/envoy.service.ext_proc.v3.ExternalProcessor/Process";
  private static final String CHECK = "/grpc.health.v1.Health/Check";
  private static final String LIVENESS = "liveness";
  private static final int SERVING = 1;
  private static final int NOT_SERVING = 2;
  private static final Duration LOOK_PACE = Duration.ofMillis(50);

  /** Metrics of a picker besides those of its gateway. */
  public static final MetricSet<Picker> METRICS =
      new MetricSet<Picker>()
          .once(
              rows ->
                  rows.gauge(
                          "kvasir_picker_streams",
                          "Requests that Envoy asks about or reports on.",
                          Picker::streams)
                      .gauge(
                          "kvasir_picker_connections",
                          "Connections to the picker, also silent ones.",
                          picker -> picker.server.connections())
                      .gauge(
                          "kvasir_picker_body_bytes",
                          "Incomplete messages of Envoy, and bodies of requests it asks about.",
                          picker -> picker.parts.bodies().reserved())
                      .counters(
                          "kvasir_picker_streams_total",
                          "Streams of Envoy that are over, by what became of them.",
                          "result",
                          picker -> picker.parts.counts().results()));

  /** Outcome of a stream. */
  enum Result {
    /** Envoy was told an endpoint. */
    PLACED,
    /** Envoy was told what to answer. */
    REFUSED,
    /** Envoy, or its caller, left before. */
    LEFT,
    /** Input that was no message, or not one that could come then. */
    MALFORMED
  }

  /**
   * Parts of the picker that every request needs.
   *
   * @param keys those of callers that are taken now
   */
  record Parts(
      GatewayParts gateway,
      PickerSettings settings,
      Supplier<ApiKeys> keys,
      Bodies bodies,
      WorkerAddresses addresses,
      Counts counts) {}

  /** Counts streams; from any thread. */
  static final class Counts {
    private final AtomicInteger open = new AtomicInteger();
    private final AtomicLong numbers = new AtomicLong();
    private final EnumMap<Result, LongAdder> results = new EnumMap<>(Result.class);

    Counts() {
      for (var result : Result.values()) results.put(result, new LongAdder());
    }

    long begin() {
      open.incrementAndGet();
      return numbers.incrementAndGet();
    }

    Map<String, Long> results() {
      var counted = new LinkedHashMap<String, Long>();
      results.forEach(
          (result, count) -> counted.put(result.name().toLowerCase(Locale.ROOT), count.sum()));
      return counted;
    }

    void end(Result result) {
      open.decrementAndGet();
      Objects.requireNonNull(results.get(result)).increment();
    }
  }

  private final Parts parts;
  private final GrpcServer server;
  private volatile boolean draining;

  private Picker(
      Network network, GatewayParts gateway, PickerSettings settings, Supplier<ApiKeys> keys) {
    parts =
        new Parts(
            gateway,
            settings,
            keys,
            new Bodies(settings.listen().limits().bodiesBytes()),
            new WorkerAddresses(),
            new Counts());
    Map<String, GrpcServer.Method> methods =
        Map.of(PROCESS, stream -> new PickedRequest(parts, stream), CHECK, Health::new);
    server = new GrpcServer(network, settings.listen(), parts.bodies(), methods);
  }

  /** Begins to pick for Envoy beside a gateway, with its workers, limits and keys. */
  public static Picker start(Network network, Gateway gateway, PickerSettings settings) {
    var picker = new Picker(network, gateway.parts(), settings, gateway::keys);
    gateway.addMetrics(METRICS.of(picker));
    return picker;
  }

  public int port() {
    return server.port();
  }

  /** Requests that Envoy asks about, or whose answers it tells of. */
  public int streams() {
    return parts.counts().open.get();
  }

  /** Takes this certificate for new connections, as it is in its files now. */
  public void use(HttpSettings.Tls tls) {
    server.use(tls);
  }

  /** Says that it is not ready, and picks on. */
  public void leave() {
    draining = true;
  }

  /** Takes no new streams, and waits until none is left, as long as there is patience. */
  public void drain(Duration patience) {
    leave();
    server.stopListening(patience);
    long until = System.nanoTime() + patience.toNanos();
    while (streams() > 0 && System.nanoTime() - until < 0) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(LOOK_PACE.toMillis()));
    }
  }

  @Override
  public void close() {
    draining = true;
    server.close();
  }

  /** Answers one question for health. */
  private final class Health implements GrpcStream.Listener {
    private final GrpcStream stream;

    Health(GrpcStream stream) {
      this.stream = stream;
    }

    @Override
    public void message(Buffer message) {
      var reader = new Reader(message);
      var service = "";
      while (reader.next()) if (reader.field() == 1) service = reader.text();
      boolean isLiveness = service.equals(LIVENESS);
      var loop = parts.gateway().loop();
      loop.execute(
          () -> {
            boolean isReady = !draining && parts.gateway().workers().ready() > 0;
            stream
                .context()
                .runOnContext(_ -> answer(isLiveness || isReady ? SERVING : NOT_SERVING));
          });
    }

    private void answer(int status) {
      stream.send(new Writer().number(1, status).buffer());
      stream.end(GrpcStream.OK, "");
    }

    @Override
    public int messageBytesMax() {
      return GrpcStream.HEADS_BYTES;
    }

    @Override
    public void look(long nowNanos) {}

    @Override
    public void finished() {}

    @Override
    public void over() {}
  }
}
