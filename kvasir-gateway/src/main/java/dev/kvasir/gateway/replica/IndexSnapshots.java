package dev.kvasir.gateway.replica;

import static java.lang.System.Logger.Level.INFO;
import static java.lang.System.Logger.Level.WARNING;

import dev.kvasir.Nullable;
import dev.kvasir.events.EngineSnapshot;
import dev.kvasir.gateway.Gateway;
import dev.kvasir.gateway.journal.NameKey;
import dev.kvasir.net.ApiError;
import dev.kvasir.net.Json;
import dev.kvasir.net.Network;
import dev.kvasir.net.Refused;
import dev.kvasir.net.auth.Access;
import dev.kvasir.net.metrics.MetricSet;
import dev.kvasir.net.server.Endpoint;
import dev.kvasir.net.server.Exchange;
import dev.kvasir.net.server.HttpSettings;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.net.PemTrustOptions;
import io.vertx.core.net.SocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;

/**
 * Snapshots that a gateway that starts takes over from another one: the blocks of each worker, and
 * the number of the KV event up to which they hold.
 *
 * <pre>
 *   new gateway                                   peer
 *     listens, and keeps what it hears
 *     GET /gateways/snapshot  --sealed question-->  same secret, version, settings, worker?
 *     takes it in             <--sealed answer----  blocks up to event N
 *     takes in what it heard from N on; asks the engine for the rest
 * </pre>
 *
 * <p>Without an answer it begins with what the engine repeats. Both question and answer are sealed
 * by the tenants' secret; an answer repeats what was drawn for the question, so that an old one
 * does not count. A question is answered within a minute of its time, one at a time.
 */
public final class IndexSnapshots implements AutoCloseable {
  /** Path at which a gateway is asked. */
  public static final String PATH = "/gateways/snapshot";

  static final String HEADER = "x-kvasir-peer";

  private static final System.Logger LOG = System.getLogger(IndexSnapshots.class.getName());
  private static final int BYTES_MAX = 64 << 20;
  private static final int SEAL_BYTES = 32;
  private static final int NONCE_BYTES = 16;
  private static final long CLOCK_MILLIS_MAX = 60_000;
  private static final Duration LOOK_PACE = Duration.ofMillis(20);
  private static final Duration BUSY_PACE = Duration.ofMillis(50);
  private static final SecureRandom RANDOM = new SecureRandom();

  /** Outcome of asking for a snapshot. */
  public enum Result {
    /** The worker's blocks were taken over. */
    TAKEN,
    /** No other gateway is there, or none knows the worker. */
    NONE,
    /** The other gateway has another secret, version or settings. */
    REFUSED,
    /** It did not answer in time, or not with a snapshot. */
    FAILED;

    /** As it is among the metrics. */
    String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Metrics of what becomes of snapshots. */
  public static final MetricSet<IndexSnapshots> METRICS =
      new MetricSet<IndexSnapshots>()
          .once(
              rows ->
                  rows.counters(
                          "kvasir_index_snapshots_total",
                          "Snapshots that this gateway asked others for, by result.",
                          "result",
                          IndexSnapshots::results)
                      .counter(
                          "kvasir_index_snapshot_blocks_total",
                          "Blocks that this gateway took over in snapshots.",
                          snapshots -> snapshots.blocks.sum())
                      .counter(
                          "kvasir_index_snapshots_sent_total",
                          "Snapshots that this gateway gave to others.",
                          snapshots -> snapshots.sent.sum()));

  /**
   * Settings by which a gateway asks.
   *
   * @param peers the addresses of other gateways, as in http://10.0.0.7:8000
   * @param terms settings that must be the same in both, as {@code name=value}
   * @param time time after which it begins without
   * @param tls the certificate of gateways; null where they have none
   */
  public record Settings(
      List<String> peers, List<String> terms, Duration time, HttpSettings.@Nullable Tls tls) {
    /** Not the compact form: of its parameters javac writes no annotations for other modules. */
    public Settings(
        List<String> peers, List<String> terms, Duration time, HttpSettings.@Nullable Tls tls) {
      this.peers = List.copyOf(peers);
      this.terms = List.copyOf(terms);
      this.time = time;
      this.tls = tls;
    }
  }

  /**
   * The worker whose blocks are wanted.
   *
   * @param name in both gateways
   * @param source where its KV events come from, which must be the same
   */
  public record Wanted(String name, String source) {}

  /** The addresses of gateways that are known by now. */
  public interface Members {
    List<String> addresses();

    /** Returns whether there may be gateways that are not known yet. */
    boolean isLooking();
  }

  private record Question(String nonce, Wanted worker, List<String> terms) {}

  /** Reason why there is no snapshot from one gateway. */
  private static final class NoSnapshot extends RuntimeException {
    private static final long serialVersionUID = 1;
    private final Result result;
    private final boolean isBusy;

    NoSnapshot(Result result, String why) {
      this(result, why, 0);
    }

    NoSnapshot(Result result, String why, int status) {
      super(why, null, false, false);
      this.result = result;
      this.isBusy = status == 503;
    }
  }

  private final Settings settings;
  private final NameKey secret;
  private final Members members;
  private final Supplier<Optional<Gateway>> gateway;
  private final Context context;
  private final HttpClient client;
  private final AtomicBoolean giving = new AtomicBoolean();
  private final Map<Result, LongAdder> results = new TreeMap<>();
  private final LongAdder blocks = new LongAdder();
  private final LongAdder sent = new LongAdder();

  /**
   * Asks nobody yet.
   *
   * @param gateway whose index is told of, once it has started
   */
  public IndexSnapshots(
      Network network,
      Settings settings,
      NameKey secret,
      Members members,
      Supplier<Optional<Gateway>> gateway) {
    this.settings = settings;
    this.secret = secret;
    this.members = members;
    this.gateway = gateway;
    this.context = network.vertx().getOrCreateContext();
    for (var result : Result.values()) results.put(result, new LongAdder());
    var options =
        new HttpClientOptions()
            .setConnectTimeout(Math.clamp(settings.time().toMillis(), 1, 60_000));
    var tls = settings.tls();
    // Gateways have one certificate, and are reached by their addresses.
    if (tls != null) {
      options
          .setTrustOptions(new PemTrustOptions().addCertPath(tls.certificateFile()))
          .setVerifyHost(false);
    }
    this.client = network.vertx().createHttpClient(options, new PoolOptions().setHttp1MaxSize(1));
  }

  private Map<String, Long> results() {
    var counts = new TreeMap<String, Long>();
    results.forEach((result, count) -> counts.put(result.word(), count.sum()));
    return counts;
  }

  /** Counts, and says in the log, what came of asking for a worker's blocks. */
  private void count(Result result) {
    results.getOrDefault(result, new LongAdder()).increment();
  }

  /**
   * Requests a snapshot of the worker from the other gateways, one after the other.
   *
   * @return the snapshot, or nothing, always within the time of the settings
   */
  public CompletableFuture<Optional<EngineSnapshot>> request(Wanted worker) {
    var answer = new CompletableFuture<Optional<EngineSnapshot>>();
    long deadline = System.nanoTime() + settings.time().toNanos();
    context.runOnContext(_ -> look(worker, deadline, answer));
    return answer;
  }

  private void look(
      Wanted worker, long deadline, CompletableFuture<Optional<EngineSnapshot>> answer) {
    var addresses = new ArrayList<>(settings.peers());
    addresses.addAll(members.addresses());
    boolean isLate = System.nanoTime() >= deadline;
    if (addresses.isEmpty() && members.isLooking() && !isLate) {
      context.owner().setTimer(LOOK_PACE.toMillis(), _ -> look(worker, deadline, answer));
      return;
    }
    if (addresses.isEmpty()) {
      end(worker, new NoSnapshot(Result.NONE, "no other gateway is known"), answer);
      return;
    }
    next(worker, addresses, 0, deadline, answer);
  }

  private void next(
      Wanted worker,
      List<String> addresses,
      int index,
      long deadline,
      CompletableFuture<Optional<EngineSnapshot>> answer) {
    var address = addresses.get(index);
    fetch(worker, address, deadline)
        .onComplete(
            snapshot -> {
              count(Result.TAKEN);
              blocks.add(snapshot.blocks());
              LOG.log(
                  INFO,
                  "worker {0}: {1} blocks taken over from the gateway at {2}, up to KV event {3}",
                  worker.name(),
                  snapshot.blocks(),
                  address,
                  snapshot.position().next() - 1);
              answer.complete(Optional.of(snapshot));
            },
            failure -> {
              if (isBusy(failure, deadline)) {
                context
                    .owner()
                    .setTimer(
                        BUSY_PACE.toMillis(),
                        _ -> next(worker, addresses, index, deadline, answer));
                return;
              }
              boolean isLast = index + 1 == addresses.size() || System.nanoTime() >= deadline;
              if (isLast) end(worker, because(address, failure), answer);
              else next(worker, addresses, index + 1, deadline, answer);
            });
  }

  /**
   * Returns whether the other gateway tells another one just now, and there is time to ask again.
   */
  private static boolean isBusy(Throwable failure, long deadline) {
    return failure instanceof NoSnapshot none
        && none.isBusy
        && deadline - System.nanoTime() > BUSY_PACE.toNanos();
  }

  private static NoSnapshot because(String address, Throwable failure) {
    var result = failure instanceof NoSnapshot none ? none.result : Result.FAILED;
    return new NoSnapshot(result, address + ": " + failure.getMessage());
  }

  private void end(
      Wanted worker, NoSnapshot why, CompletableFuture<Optional<EngineSnapshot>> answer) {
    count(why.result);
    LOG.log(
        why.result == Result.NONE ? INFO : WARNING,
        "worker {0}: no blocks taken over from another gateway ({1}); what the worker repeats of"
            + " its KV events is all that is known",
        worker.name(),
        why.getMessage());
    answer.complete(Optional.empty());
  }

  private Future<EngineSnapshot> fetch(Wanted worker, String address, long deadline) {
    long millis = (deadline - System.nanoTime()) / 1_000_000;
    if (millis < 1) return Future.failedFuture("no time is left");
    var url = URI.create(address);
    boolean isSecure = "https".equals(url.getScheme());
    int port = url.getPort() > 0 ? url.getPort() : isSecure ? 443 : 80;
    var nonce = new byte[NONCE_BYTES];
    RANDOM.nextBytes(nonce);
    var question = new Question(HexFormat.of().formatHex(nonce), worker, settings.terms());
    var options =
        new RequestOptions()
            .setServer(SocketAddress.inetSocketAddress(port, url.getHost()))
            // Whatever names a gateway answers to, this is one of them.
            .setHost("localhost")
            .setPort(port)
            .setSsl(isSecure)
            .setMethod(HttpMethod.GET)
            .setURI(PATH)
            .putHeader(HEADER, sealed(question))
            .setTimeout(millis);
    Promise<EngineSnapshot> whole = Promise.promise();
    long timer =
        context.owner().setTimer(millis, _ -> whole.tryFail("no answer in " + millis + " ms"));
    client
        .request(options)
        .compose(request -> request.send())
        .compose(IndexSnapshots::body)
        .map(body -> opened(body, question.nonce()))
        .onComplete(whole::tryComplete, whole::tryFail);
    return whole.future().onComplete(_ -> context.owner().cancelTimer(timer));
  }

  private static Future<Buffer> body(HttpClientResponse response) {
    var body = Buffer.buffer();
    Promise<Buffer> whole = Promise.promise();
    response.handler(
        part -> {
          body.appendBuffer(part);
          if (body.length() > SEAL_BYTES + 2 * NONCE_BYTES + BYTES_MAX + (1 << 20)) {
            whole.tryFail("more than " + BYTES_MAX + " bytes");
            response.request().reset();
          }
        });
    response.exceptionHandler(whole::tryFail);
    response.endHandler(
        _ -> {
          if (response.statusCode() == 200) whole.tryComplete(body);
          else whole.tryFail(refusal(response.statusCode(), body.toString()));
        });
    return whole.future();
  }

  private static NoSnapshot refusal(int status, String body) {
    var result =
        switch (status) {
          case 404 -> Result.NONE;
          case 403, 409 -> Result.REFUSED;
          default -> Result.FAILED;
        };
    String message;
    try {
      message =
          Json.read(body.getBytes(StandardCharsets.UTF_8)).path("error").path("message").asString();
    } catch (RuntimeException e) {
      message = "";
    }
    return new NoSnapshot(result, message.isEmpty() ? "status " + status : message, status);
  }

  private EngineSnapshot opened(Buffer body, String nonce) {
    var bytes = body.getBytes();
    var head = nonce.getBytes(StandardCharsets.US_ASCII);
    int from = SEAL_BYTES + head.length;
    if (bytes.length < from) throw new NoSnapshot(Result.FAILED, "an answer that is cut short");
    var text = Arrays.copyOfRange(bytes, SEAL_BYTES, bytes.length);
    boolean isSealed = MessageDigest.isEqual(secret.seal(text), Arrays.copyOf(bytes, SEAL_BYTES));
    if (!isSealed || !Arrays.equals(head, Arrays.copyOf(text, head.length))) {
      throw new NoSnapshot(Result.REFUSED, "its answer is sealed by another routing.tenant-secret");
    }
    return EngineSnapshot.decode(Arrays.copyOfRange(bytes, from, bytes.length));
  }

  private String sealed(Question question) {
    var json = Json.object();
    json.put("time", System.currentTimeMillis());
    json.put("nonce", question.nonce());
    json.put("worker", question.worker().name());
    json.put("source", question.worker().source());
    var terms = json.putArray("terms");
    question.terms().forEach(terms::add);
    var text = json.toString().getBytes(StandardCharsets.UTF_8);
    var url = Base64.getUrlEncoder().withoutPadding();
    return url.encodeToString(text) + "." + url.encodeToString(secret.seal(text));
  }

  /** Throws {@link Refused} where nobody with the secret has asked now. */
  private Question question(@Nullable String header) {
    try {
      int dot = header == null ? -1 : header.indexOf('.');
      if (header != null && dot > 0) {
        var text = Base64.getUrlDecoder().decode(header.substring(0, dot));
        var seal = Base64.getUrlDecoder().decode(header.substring(dot + 1));
        if (MessageDigest.isEqual(secret.seal(text), seal)) {
          var json = Json.read(text);
          long age = Math.abs(System.currentTimeMillis() - json.path("time").asLong(0));
          if (age <= CLOCK_MILLIS_MAX) {
            var terms = new ArrayList<String>();
            for (var each : json.path("terms")) terms.add(each.asString());
            var wanted = new Wanted(json.path("worker").asString(), json.path("source").asString());
            return new Question(json.path("nonce").asString(), wanted, terms);
          }
          throw new Refused(
              ApiError.forbidden("the clocks of the two gateways differ by " + age + " ms"));
        }
      }
    } catch (IllegalArgumentException e) {
      // Neither Base64 nor JSON: whoever wrote it does not know how to ask.
    }
    throw new Refused(
        ApiError.forbidden("only gateways with the same routing.tenant-secret may ask for this"));
  }

  /** Returns the endpoint that other gateways ask. */
  public Endpoint endpoint() {
    return Endpoint.get(PATH, Access.PEER, this::give);
  }

  private void give(Exchange exchange) {
    var question = question(exchange.header(HEADER));
    for (var term : settings.terms()) {
      if (question.terms().contains(term)) continue;
      throw new Refused(ApiError.of(409, "conflict", "other_settings", "this gateway has " + term));
    }
    if (!giving.compareAndSet(false, true)) {
      var message = "another gateway is being told";
      throw new Refused(ApiError.unavailable("busy", message, Duration.ofSeconds(1)));
    }
    exchange.whenOver(() -> giving.set(false));
    var started = gateway.get().orElse(null);
    if (started == null) {
      exchange.fail(unknown());
      return;
    }
    exchange.handOver();
    started.loop().execute(() -> exchange.guardElsewhere(() -> copy(exchange, started, question)));
  }

  private static ApiError unknown() {
    return ApiError.of(
        404, "invalid_request_error", "unknown_worker", "it has no KV events of this worker");
  }

  /** On the loop of the router: only the references are copied there. */
  private void copy(Exchange exchange, Gateway started, Question question) {
    for (var entry : started.parts().workers().entries()) {
      var events = entry.worker().events();
      boolean isWanted = entry.worker().name().equals(question.worker().name());
      if (!isWanted || events == null || !events.source().equals(question.worker().source())) {
        continue;
      }
      var snapshot = events.snapshot();
      if (snapshot == null) continue;
      exchange.context().runOnContext(_ -> send(exchange, snapshot, question.nonce()));
      return;
    }
    exchange.context().runOnContext(_ -> exchange.fail(unknown()));
  }

  private void send(Exchange exchange, EngineSnapshot snapshot, String nonce) {
    exchange
        .context()
        .executeBlocking(() -> sealed(snapshot, nonce), false)
        .onComplete(
            bytes -> {
              sent.increment();
              exchange.answer(200, "application/octet-stream", bytes);
            },
            bug -> {
              LOG.log(WARNING, "no snapshot could be written", bug);
              exchange.fail(ApiError.internal());
            });
  }

  private Buffer sealed(EngineSnapshot snapshot, String nonce) {
    var content = snapshot.encode(BYTES_MAX);
    var head = nonce.getBytes(StandardCharsets.US_ASCII);
    var text = Arrays.copyOf(head, head.length + content.length);
    System.arraycopy(content, 0, text, head.length, content.length);
    return Buffer.buffer(SEAL_BYTES + text.length).appendBytes(secret.seal(text)).appendBytes(text);
  }

  @Override
  public void close() {
    var _ = client.close();
  }
}
