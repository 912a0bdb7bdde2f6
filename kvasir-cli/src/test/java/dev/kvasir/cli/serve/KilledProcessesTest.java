package dev.kvasir.cli.serve;

import static java.util.stream.Collectors.groupingBy;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kvasir.cli.serve.OpenStream.End;
import dev.kvasir.cli.serve.OpenStream.Outcome;
import dev.kvasir.kv.name.Sha256;
import dev.kvasir.net.redis.RedisServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three gateways, six workers and a Redis, each in a process of its own except four workers, under
 * load: a gateway, the Redis and two workers are killed, one after the other.
 *
 * <p>Runs in the long profile, with the usual times of {@code replicas}; {@code
 * -Dkvasir.killed.per-second=N} sets the load, and runs a short version in the default profile.
 */
@Timeout(240)
class KilledProcessesTest {
  private static final boolean FULL = Integer.getInteger("kvasir.scale", 1) > 1;
  private static final int ASKED = Integer.getInteger("kvasir.killed.per-second", 0);
  private static final int PER_SECOND = ASKED > 0 ? ASKED : 100;
  private static final int GATEWAYS = 3;

  /** Of a key that asks for more all the time. */
  private static final int LIMIT_PER_MINUTE = FULL ? 2 * PER_SECOND : PER_SECOND / 2;

  private static final Duration UNIT = Duration.ofMillis(FULL ? 4_000 : 600);
  private static final Duration PATIENCE = Duration.ofSeconds(90);
  private static final Map<String, String> ENVIRONMENT =
      Map.of("KVASIR_TENANT_SECRET", "a secret of all three gateways");

  @TempDir private Path folder;
  private final HttpClient client = HttpClient.newHttpClient();
  private final List<CommandProcess> processes = new ArrayList<>();
  private final List<CommandProcess> gateways = new ArrayList<>();
  private final List<URI> urls = new ArrayList<>();
  private final List<String> admins = new ArrayList<>();
  private final List<String> workers = new ArrayList<>();
  private final Queue<Outcome> outcomes = new ConcurrentLinkedQueue<>();
  private final List<Thread> callers = new ArrayList<>();
  private long begunNanos;
  private int requested;

  @BeforeAll
  static void assumeItIsAskedFor() {
    assumeTrue(FULL || ASKED > 0, "only in the long profile, or with kvasir.killed.per-second");
  }

  @AfterEach
  void stop() {
    processes.forEach(CommandProcess::close);
    client.shutdownNow();
  }

  @Test
  void lostIsOnlyWhatTheKilledHad() throws Exception {
    try (var redis = RedisServer.start(folder.resolve("redis"))) {
      var rest = fleet(4);
      var first = fleet(1);
      var second = fleet(1);
      for (var fleet : List.of(rest, first, second)) {
        workers.addAll(fleet.until("faults").values("worker"));
      }
      startGateways(redis);
      begunNanos = System.nanoTime();

      load(2);
      gateways.getFirst().kill();
      load(2);
      long outageNanos = System.nanoTime();
      redis.kill();
      load(2);
      redis.restart();
      long backNanos = System.nanoTime();
      load(2);
      first.kill();
      load(1);
      second.kill();
      load(1);
      for (var caller : callers) caller.join(PATIENCE);

      printOutcomes();
      checkLosses();
      checkLimits(outageNanos, backNanos);
      for (var admin : admins.subList(1, GATEWAYS)) checkBooks(admin);
      for (var worker : workers.subList(0, 4)) checkIdle(worker);
    }
  }

  /** Look-alike workers in one process. */
  private CommandProcess fleet(int count) throws IOException {
    var words =
        List.of(
            "fleet",
            "--workers=" + count,
            "--port=0",
            "--control-port=0",
            "--kv-blocks=20000",
            "--latency-model=linear",
            "--alpha-coeffs=0,0,0",
            "--beta-coeffs=10000,20,100");
    var log = folder.resolve("fleet" + processes.size() + ".log");
    var process = new CommandProcess(log, ENVIRONMENT, words);
    processes.add(process);
    return process;
  }

  private void startGateways(RedisServer redis) throws Exception {
    var keys = new StringBuilder();
    keys.append("root ").append(hash("root")).append(" admin\n");
    keys.append("free ").append(hash("free")).append('\n');
    keys.append("limited ").append(hash("limited"));
    keys.append(" per-minute=").append(LIMIT_PER_MINUTE).append('\n');
    var file = Files.writeString(folder.resolve("keys"), keys.toString());
    var list = new StringBuilder();
    for (int i = 0; i < workers.size(); i++) {
      list.append("  - {url: \"%s\", name: w%d}%n".formatted(workers.get(i), i));
    }
    var pace = FULL ? "" : ", beat: 100ms, loss-time: 500ms";
    for (int i = 0; i < GATEWAYS; i++) {
      var text =
          """
          listen: {port: 0, admin-port: 0, api-keys: "%s"}
          replicas: {server: "%s", name: gateway-%d%s}
          routing: {tenant-secret: "env:KVASIR_TENANT_SECRET", probe-pace: 200ms}
          workers:
          %s\
          """
              .formatted(file, redis.node(), i, pace, list);
      var config = Files.writeString(folder.resolve("gateway" + i + ".yaml"), text);
      gateways.add(gateway(config));
    }
    for (var gateway : gateways) {
      gateway.until("  metrics");
      urls.add(URI.create(gateway.values("  endpoint").getFirst().replace("/v1", "")));
      admins.add(gateway.values("  metrics").getFirst());
    }
    for (var admin : admins) {
      awaitAt(admin, "kvasir_replicas_gateways", "3");
      awaitAt(admin, "kvasir_worker_ready", "1");
    }
  }

  private CommandProcess gateway(Path config) throws IOException {
    var log = Path.of(config + ".log");
    var words = List.of("serve", "--config=" + config, "--cache-dir=" + config + ".cache");
    var process = new CommandProcess(log, ENVIRONMENT, words);
    processes.add(process);
    return process;
  }

  private static String hash(String key) {
    return Sha256.hex(key.getBytes(StandardCharsets.UTF_8));
  }

  /** Begins streams for so many units of time; every other one with the limited key. */
  private void load(int units) throws InterruptedException {
    long count = PER_SECOND * UNIT.toMillis() * units / 1_000;
    for (long i = 0; i < count; i++) {
      int number = requested++;
      long dueNanos = begunNanos + TimeUnit.SECONDS.toNanos(number) / PER_SECOND;
      long waitNanos = dueNanos - System.nanoTime();
      if (waitNanos > 0) TimeUnit.NANOSECONDS.sleep(waitNanos);
      var stream = new OpenStream(urls, number % 2 == 0 ? "limited" : "free", body(number));
      callers.add(Thread.ofVirtual().start(() -> outcomes.add(stream.send(number % GATEWAYS))));
    }
  }

  private static String body(int number) {
    var words = ("conversation " + number % 50 + " goes on. ").repeat(8);
    return """
    {"model": "kvasir-fleet", "messages": [{"role": "user", "content": "%s%d"}],
     "max_tokens": 20, "stream": true}\
    """
        .formatted(words, number);
  }

  private void printOutcomes() {
    var ends = new TreeMap<>(outcomes.stream().collect(groupingBy(Outcome::end)));
    var counts = new StringBuilder();
    ends.forEach((end, list) -> counts.append(' ').append(end).append('=').append(list.size()));
    System.out.printf(
        Locale.ROOT,
        "%d streams at %d/s, ended after %.1f s:%s%n",
        requested,
        PER_SECOND,
        (System.nanoTime() - begunNanos) / 1e9,
        counts);
  }

  private void checkLosses() {
    assertThat(outcomes).hasSize(requested);
    for (var outcome : outcomes) {
      switch (outcome.end()) {
        case WHOLE -> {}
        case REFUSED -> assertThat(outcome.key()).as(outcome.toString()).isEqualTo("limited");
        case BROKEN -> assertThat(outcome.gateway()).as(outcome.toString()).isZero();
        case ERROR_EVENT -> assertThat(outcome.worker()).as(outcome.toString()).isIn("w4", "w5");
        case OTHER -> assertThat(outcome).isNull();
      }
    }
    assertThat(outcomes).anyMatch(each -> each.end() == End.BROKEN);
    assertThat(outcomes).anyMatch(each -> each.end() == End.ERROR_EVENT);
  }

  /** Checks what is granted of a limit: a full bucket, and what flows in. */
  private void checkLimits(long outageNanos, long backNanos) {
    double perNano = LIMIT_PER_MINUTE / 60e9;
    var limited = outcomes.stream().filter(each -> each.key().equals("limited")).toList();
    // Of what broke off with its gateway before anybody answered, nobody knows.
    var granted = limited.stream().filter(each -> each.text().startsWith("HTTP/1.1 200 ")).toList();
    long before = granted.stream().filter(each -> each.sentNanos() < outageNanos).count();
    double due = LIMIT_PER_MINUTE + perNano * (outageNanos - begunNanos);
    long during =
        granted.stream()
            .filter(each -> each.sentNanos() >= outageNanos && each.sentNanos() < backNanos)
            .count();
    double dueMeanwhile = perNano * (backNanos - outageNanos);
    double dueInAll = LIMIT_PER_MINUTE + perNano * (System.nanoTime() - begunNanos);
    System.out.printf(
        Locale.ROOT,
        "granted with Redis %d of %.1f, while it was gone %d of %.1f, in all %d of %.1f%n",
        before,
        due,
        during,
        dueMeanwhile,
        granted.size(),
        dueInAll);
    // The bucket was empty when Redis was killed. A request is whole, at each gateway.
    assertThat(before).isLessThanOrEqualTo((long) (1.02 * due) + 1);
    long unknown = limited.stream().filter(each -> each.text().isEmpty()).count();
    assertThat(before + unknown).isGreaterThan((long) (0.8 * due));
    assertThat(during).isLessThanOrEqualTo((long) (1.05 * dueMeanwhile) + GATEWAYS);
    assertThat((double) granted.size()).isLessThanOrEqualTo(1.02 * dueInAll + 1);
  }

  private boolean isOther(String url, String metric, String value) throws Exception {
    var found = values(url, metric);
    return found.isEmpty() || found.stream().anyMatch(each -> !each.equals(value));
  }

  /** Returns the values of a metric on a page, one for each label. */
  private List<String> values(String url, String metric) throws Exception {
    var request =
        HttpRequest.newBuilder(URI.create(url)).header("authorization", "Bearer root").build();
    var page = client.send(request, BodyHandlers.ofString()).body();
    return page.lines()
        .filter(line -> line.startsWith(metric + " ") || line.startsWith(metric + "{"))
        .map(line -> line.substring(line.lastIndexOf(' ') + 1))
        .toList();
  }

  private void checkBooks(String admin) throws Exception {
    awaitAt(admin, "kvasir_replicas_gateways", "2");
    awaitAt(admin, "kvasir_replicas_joined", "1");
    awaitAt(admin, "kvasir_requests_in_flight", "0");
    awaitAt(admin, "kvasir_worker_in_flight", "0");
    awaitAt(admin, "kvasir_worker_in_flight_elsewhere", "0");
    awaitAt(admin, "kvasir_worker_prefill_tokens", "0");
  }

  private void checkIdle(String worker) throws Exception {
    awaitAt(worker + "/metrics", "vllm:num_requests_running", "0");
    awaitAt(worker + "/metrics", "vllm:num_requests_waiting", "0");
  }

  private void awaitAt(String url, String metric, String value) throws Exception {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (isOther(url, metric, value)) {
      var found = values(url, metric);
      assertThat(System.nanoTime()).as(metric + " at " + url + ": " + found).isLessThan(end);
      Thread.sleep(20);
    }
  }
}
