package dev.kvasir.cli.workers;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.kvasir.cli.settings.DiscoverySettings;
import dev.kvasir.cli.settings.DiscoverySettings.Start;
import dev.kvasir.cli.settings.KubernetesSettings;
import dev.kvasir.cli.settings.WorkerSettings;
import dev.kvasir.cli.workers.WorkerSources.Source;
import dev.kvasir.net.metrics.MetricsText;
import dev.kvasir.net.server.Eventually;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Workers that a file or DNS names, and what stays where those do not answer. */
class WorkerDiscoveryTest {
  private static final Duration PACE = Duration.ofMillis(20);

  private final BlockingQueue<List<String>> used = new LinkedBlockingQueue<>();
  private final WorkerSources sources =
      new WorkerSources(
          workers -> used.add(workers.stream().map(each -> each.worker().name()).toList()));

  @TempDir private Path folder;

  private DiscoverySettings byFile(Path file) {
    return new DiscoverySettings(
        Start.WITH_WORKERS, file, "", "", KubernetesSettings.DEFAULT, PACE, 0, 0, 0, 0);
  }

  private static DiscoverySettings byDns(NameServer server) {
    var name = "_http._tcp.vllm.test";
    return new DiscoverySettings(
        Start.WITH_WORKERS,
        null,
        name,
        server.address(),
        KubernetesSettings.DEFAULT,
        PACE,
        5557,
        5558,
        0,
        0);
  }

  private List<String> next() throws InterruptedException {
    var next = used.poll(20, TimeUnit.SECONDS);
    return next == null ? List.of("nothing came") : next;
  }

  private List<String> names() {
    return sources.all().stream().map(each -> each.worker().name()).toList();
  }

  private String metrics() {
    var out = new MetricsText();
    WorkerSources.METRICS.write(sources, out);
    return out.toString();
  }

  private int failures(Source source) {
    return metrics()
        .lines()
        .filter(line -> line.startsWith("kvasir_discovery_failures_total{"))
        .filter(line -> line.contains(source.label()))
        .mapToInt(line -> Integer.parseInt(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  /** All that the first failure does is done when the second is counted. */
  private void awaitFailures(Source source) throws InterruptedException {
    Eventually.ends(() -> failures(source) < 2);
    assertThat(failures(source)).isGreaterThan(1);
  }

  @Test
  void aFileIsReadAgainWhenItChangesAndABrokenOneChangesNothing() throws Exception {
    var file = folder.resolve("workers.yaml");
    Files.writeString(file, "workers:\n  - {url: 'http://a:1', name: a}\n");
    try (var discovery = WorkerDiscovery.of(byFile(file), sources)) {
      assertThat(names()).containsExactly("a");
      discovery.run();
      Files.writeString(file, "workers:\n  - {url: 'http://b:1'}\n  - {url: 'http://a:1'}\n");
      assertThat(next()).containsExactly("b:1", "a:1");
      Files.writeString(file, "workers:\n  - {uri: 'http://c:1'}\n");
      Eventually.ends(() -> failures(Source.FILE) == 0);
      assertThat(failures(Source.FILE)).isPositive();
      assertThat(names()).containsExactly("b:1", "a:1");
      Files.writeString(file, "workers: []\n");
      assertThat(next()).isEmpty();
    }
  }

  @Test
  void aFileThatIsNotThereYetIsNoReasonNotToStart() throws Exception {
    var file = folder.resolve("later.yaml");
    try (var discovery = WorkerDiscovery.of(byFile(file), sources)) {
      assertThat(names()).isEmpty();
      discovery.run();
      Files.writeString(file, "workers: [{url: 'http://a:1'}]\n");
      assertThat(next()).containsExactly("a:1");
    }
  }

  @Test
  void serviceRecordsNameWorkersWithTheirPortsAndEvents() throws Exception {
    try (var server = new NameServer()) {
      server.records = List.of("8000 one.vllm.test", "8001 two.vllm.test");
      try (var discovery = WorkerDiscovery.of(byDns(server), sources)) {
        assertThat(names()).containsExactly("one.vllm.test:8000", "two.vllm.test:8001");
        assertThat(sources.all().getFirst().events()).isEqualTo("tcp://one.vllm.test:5557");
        assertThat(sources.all().getFirst().replay()).isEqualTo("tcp://one.vllm.test:5558");
        discovery.run();
        server.records = List.of("8001 two.vllm.test");
        assertThat(next()).containsExactly("two.vllm.test:8001");
      }
    }
  }

  @Test
  void aNameWithoutRecordsKeepsTheWorkersItHad() throws Exception {
    try (var server = new NameServer()) {
      server.records = List.of("8000 one.vllm.test");
      var settings = byDns(server);
      var lookup = new ServiceRecords(settings);
      assertThat(lookup.workers()).hasSize(1);
      server.records = List.of();
      assertThatThrownBy(lookup::workers).isInstanceOf(IOException.class);
      server.records = List.of("8000 one.vllm.test");
      try (var discovery = WorkerDiscovery.of(settings, sources)) {
        discovery.run();
        server.records = List.of();
        awaitFailures(Source.DNS);
        assertThat(names()).containsExactly("one.vllm.test:8000");
      }
    }
  }

  @Test
  void moreRecordsThanADatagramHoldsComeByTcp() throws Exception {
    try (var server = new NameServer()) {
      var records = new ArrayList<String>();
      for (int i = 0; i < 256; i++) records.add("8000 pod-" + i + ".vllm.test");
      server.records = records;
      assertThat(new ServiceRecords(byDns(server)).workers()).hasSize(256);
      assertThat(server.overTcp.get()).isEqualTo(1);
    }
  }

  @Test
  void aServerThatDoesNotAnswerIsNotWaitedForLong() throws Exception {
    try (var server = new NameServer()) {
      server.isMute = true;
      assertThatThrownBy(() -> new ServiceRecords(byDns(server)).workers())
          .isInstanceOf(IOException.class)
          .hasMessageContaining("_http._tcp.vllm.test");
    }
  }

  @Test
  void theEndpointsOfAServiceAreWorkersUntilTheyTerminate() throws Exception {
    Files.writeString(folder.resolve("token"), "secret\n");
    try (var server = new ApiServer()) {
      var service = new KubernetesSettings("vllm", "", "", "models", "http", server.url(), folder);
      var settings =
          new DiscoverySettings(Start.WITH_WORKERS, null, "", "", service, PACE, 5557, 0, 5570, 0);
      var lookup = new EndpointSlices(settings);
      server.answer = slices("false");
      assertThat(lookup.workers())
          .extracting(WorkerSettings::url)
          .containsExactly("http://10.0.0.7:8000", "http://10.0.0.8:8000", "http://[fd00::9]:8000");
      assertThat(lookup.workers().getFirst().events()).isEqualTo("tcp://10.0.0.7:5557");
      assertThat(lookup.workers().getFirst().tier()).isEqualTo("tcp://10.0.0.7:5570");
      assertThat(lookup.workers().getFirst().tierReplay()).isEmpty();
      assertThat(server.received.poll())
          .isEqualTo(
              "Bearer secret /apis/discovery.k8s.io/v1/namespaces/models/endpointslices"
                  + "?labelSelector=kubernetes.io%2Fservice-name%3Dvllm&resourceVersion=0");
      server.answer = slices("true");
      assertThat(lookup.workers()).hasSize(2);
      server.answer = "";
      assertThatThrownBy(lookup::workers).hasMessageContaining("answered 403");
      server.answer = "no JSON";
      assertThatThrownBy(lookup::workers).isInstanceOf(IOException.class);
    }
  }

  @Test
  void podsOfASelectorAreWorkersWhileTheyRun() throws Exception {
    try (var server = new ApiServer()) {
      var pods = new KubernetesSettings("", "app=vllm", "", "models", "http", server.url(), folder);
      var lookup = new Pods(kubernetes(pods));
      server.answer = PODS;
      assertThat(lookup.workers())
          .extracting(WorkerSettings::url)
          .containsExactly("http://10.0.0.7:8000");
      assertThat(server.received.poll())
          .isEqualTo(
              "null /api/v1/namespaces/models/pods?labelSelector=app%3Dvllm&resourceVersion=0");
      assertThatThrownBy(
              () -> new KubernetesSettings("a", "app=b", "", "c", "", server.url(), folder))
          .hasMessageContaining("expected one of them");
    }
  }

  @Test
  void podsOfAnInferencePoolListenOnItsPort() throws Exception {
    try (var server = new ApiServer()) {
      var pool = new KubernetesSettings("", "", "vllm", "models", "", server.url(), folder);
      var lookup = new Pods(kubernetes(pool));
      server.answers.put("/inferencepools/vllm", "{\"spec\": {}}");
      assertThatThrownBy(lookup::workers).hasMessageContaining("pool models/vllm has no");
      server.answers.put(
          "/inferencepools/vllm",
          """
          {"spec": {"selector": {"matchLabels": {"app": "vllm", "a": "b"}},
                    "targetPorts": [{"number": 8123}]}}
          """);
      server.answer = PODS;
      assertThat(lookup.workers())
          .extracting(WorkerSettings::url)
          .containsExactly("http://10.0.0.7:8123");
      assertThat(server.received)
          .anyMatch(each -> each.contains("labelSelector=a%3Db%2Capp%3Dvllm&"));
    }
  }

  /** The pace is so slow that only a watch can tell of the change, and of the one after it. */
  @Test
  void aChangeOfPodsIsHeardAtOnce() throws Exception {
    try (var server = new ApiServer()) {
      var pods = new KubernetesSettings("", "app=vllm", "", "models", "http", server.url(), folder);
      server.answer = PODS;
      var settings =
          new DiscoverySettings(
              Start.WITH_WORKERS, null, "", "", pods, Duration.ofMinutes(5), 0, 0, 0, 0);
      try (var discovery = WorkerDiscovery.of(settings, sources)) {
        assertThat(names()).containsExactly("10.0.0.7:8000");
        discovery.run();
        var watch = server.watches.poll(20, TimeUnit.SECONDS);
        for (var port : List.of("8001", "8002")) {
          server.answer = PODS.replace("8000", port);
          watch.write("{\"type\": \"MODIFIED\"}\n".getBytes(StandardCharsets.UTF_8));
          watch.flush();
          assertThat(next()).containsExactly("10.0.0.7:" + port);
        }
      }
    }
  }

  /** After some answers it begins one of many bytes, and sends the first of them. */
  private static final class StallingServer implements AutoCloseable {
    private final ServerSocket server;
    private final AtomicInteger answers;
    private final CountDownLatch stalled = new CountDownLatch(1);

    StallingServer(int answers) throws IOException {
      this.answers = new AtomicInteger(answers);
      this.server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
      Thread.ofVirtual().start(this::accept);
    }

    private void accept() {
      while (!server.isClosed()) {
        try {
          var socket = server.accept();
          Thread.ofVirtual().start(() -> answer(socket));
        } catch (IOException e) {
          return;
        }
      }
    }

    private void answer(Socket socket) {
      try (socket) {
        var in = new BufferedReader(new InputStreamReader(socket.getInputStream(), US_ASCII));
        for (var line = in.readLine(); line != null; line = in.readLine()) {
          if (!line.isEmpty()) continue;
          boolean ends = answers.getAndDecrement() > 0;
          var head = "HTTP/1.1 200 OK\r\ncontent-length: " + (ends ? PODS.length() : 1_000);
          var text = head + "\r\n\r\n" + (ends ? PODS : "{\n");
          socket.getOutputStream().write(text.getBytes(US_ASCII));
          if (!ends) stalled.countDown();
        }
      } catch (IOException e) {
        stalled.countDown();
      }
    }

    KubernetesSettings pods(Path folder) {
      var url = "http://127.0.0.1:" + server.getLocalPort();
      return new KubernetesSettings("", "app=vllm", "", "models", "http", url, folder);
    }

    @Override
    public void close() throws IOException {
      server.close();
    }
  }

  @Test
  void aSourceThatStallsInAnAnswerDoesNotStopTheOthers() throws Exception {
    var file = folder.resolve("workers.yaml");
    Files.writeString(file, "workers: [{url: 'http://a:1'}]\n");
    try (var server = new StallingServer(1)) {
      var settings =
          new DiscoverySettings(
              Start.WITH_WORKERS, file, "", "", server.pods(folder), PACE, 0, 0, 0, 0);
      try (var discovery = WorkerDiscovery.of(settings, sources)) {
        assertThat(names()).containsExactly("a:1", "10.0.0.7:8000");
        discovery.run();
        server.stalled.await();
        Files.writeString(file, "workers: [{url: 'http://b:1'}]\n");
        assertThat(next()).containsExactly("b:1", "10.0.0.7:8000");
        assertThat(metrics())
            .contains("kvasir_discovery_last_success_timestamp_seconds{source=\"kubernetes\"} ")
            .contains("kvasir_discovery_last_success_timestamp_seconds{source=\"file\"} ")
            .as("the one that stalls is still waited for")
            .contains("kvasir_discovery_failures_total{source=\"kubernetes\"} 0");
        assertThat(sources.lastAnswer(Source.FILE)).startsWith("having last answered at 20");
        assertThat(sources.lastAnswer(Source.DNS)).isEqualTo("having never answered");
      }
    }
  }

  @Test
  void anAnswerOrAWatchThatDoesNotEndFails() throws Exception {
    // A client that asks for the first time is slow, and the head has to come in time.
    var time = Duration.ofSeconds(2);
    try (var server = new StallingServer(1)) {
      new KubernetesApi(server.pods(folder)).read("/");
      var api = new KubernetesApi(server.pods(folder), time, Duration.ZERO);
      assertThatThrownBy(() -> api.read("/")).hasMessageContaining("did not end within");
      var changes = new AtomicInteger();
      assertThatThrownBy(() -> api.watch("/", changes::incrementAndGet))
          .hasMessageContaining("did not end within");
      assertThat(changes).hasValue(1);
    }
  }

  @Test
  void anAnswerOfTooManyBytesFails() throws Exception {
    try (var server = new ApiServer()) {
      server.answer = " ".repeat(33 << 20);
      var pods = new KubernetesSettings("", "app=vllm", "", "models", "http", server.url(), folder);
      assertThatThrownBy(() -> new KubernetesApi(pods).read("/")).isInstanceOf(IOException.class);
    }
  }

  private static DiscoverySettings kubernetes(KubernetesSettings pods) {
    return new DiscoverySettings(Start.WITH_WORKERS, null, "", "", pods, PACE, 0, 0, 0, 0);
  }

  /** One pod that runs, one that leaves, one that waits for its image, and one of another port. */
  private static final String PODS =
      """
      {"items": [
        {"metadata": {"name": "a"}, "status": {"phase": "Running", "podIP": "10.0.0.7"},
         "spec": {"containers": [{"ports": [{"name": "http", "containerPort": 8000},
                                            {"name": "metrics", "containerPort": 9000}]}]}},
        {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"},
         "status": {"phase": "Running", "podIP": "10.0.0.8"},
         "spec": {"containers": [{"ports": [{"name": "http", "containerPort": 8000}]}]}},
        {"metadata": {}, "status": {"phase": "Pending"},
         "spec": {"containers": [{"ports": [{"name": "http", "containerPort": 8000}]}]}}]}
      """;

  /** Answers as the API server of Kubernetes does; without an answer it refuses. */
  private static final class ApiServer implements AutoCloseable {
    private final HttpServer server;
    private final BlockingQueue<String> received = new LinkedBlockingQueue<>();
    private final BlockingQueue<OutputStream> watches = new LinkedBlockingQueue<>();
    private final Map<String, String> answers = new ConcurrentHashMap<>();
    private volatile String answer = "";

    ApiServer() throws IOException {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      server.createContext("/", this::answer);
      server.start();
    }

    private void answer(HttpExchange exchange) throws IOException {
      var key = exchange.getRequestHeaders().getFirst("authorization");
      var uri = exchange.getRequestURI().toString();
      received.add(key + " " + uri);
      if (uri.contains("watch=1")) {
        exchange.sendResponseHeaders(200, 0);
        watches.add(exchange.getResponseBody());
        return;
      }
      var text = answer;
      for (var each : answers.entrySet()) if (uri.endsWith(each.getKey())) text = each.getValue();
      var bytes = text.getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(bytes.length == 0 ? 403 : 200, bytes.length);
      exchange.getResponseBody().write(bytes);
      exchange.close();
    }

    String url() {
      return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    @Override
    public void close() {
      server.stop(0);
    }
  }

  /** Two slices, with an endpoint that is not ready yet, and perhaps one that terminates. */
  private static String slices(String isTerminating) {
    return """
    {"items": [
      {"addressType": "IPv4",
       "ports": [{"name": "metrics", "port": 9000}, {"name": "http", "port": 8000}],
       "endpoints": [
         {"addresses": ["10.0.0.8"], "conditions": {"ready": false, "terminating": %s}},
         {"addresses": ["10.0.0.7"], "conditions": {"ready": true}}]},
      {"addressType": "IPv6", "ports": [{"name": "http", "port": 8000}],
       "endpoints": [{"addresses": ["fd00::9"]}]},
      {"addressType": "IPv4", "ports": [{"name": "other", "port": 1}],
       "endpoints": [{"addresses": ["10.0.0.1"]}]}]}
    """
        .formatted(isTerminating);
  }

  @Test
  void whereTwoSourcesNameOneWorkerTheFirstCounts() throws Exception {
    var written = DiscoverySettings.DEFAULT.worker("a", "1");
    sources.begin(Source.SETTINGS, List.of(written));
    sources.set(Source.FILE, List.of(telling(written), DiscoverySettings.DEFAULT.worker("b", "1")));
    assertThat(next()).containsExactly("a:1", "b:1");
    assertThat(sources.all().getFirst()).isEqualTo(written);
  }

  /** The same worker, which tells its KV events. */
  private static WorkerSettings telling(WorkerSettings worker) {
    return new WorkerSettings(
        worker.url(),
        worker.name(),
        worker.role(),
        worker.connector(),
        worker.bootstrap(),
        "tcp://a:2",
        "",
        worker.rank(),
        worker.tier(),
        worker.tierReplay());
  }
}
