package dev.kvasir.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.engine.EngineSettings;
import dev.kvasir.net.Json;
import dev.kvasir.tools.fleet.Fleet;
import dev.kvasir.tools.fleet.FleetSettings;
import dev.kvasir.tools.fleet.TestFleet;
import java.io.FileInputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;

/**
 * Workers that a real API server of Kubernetes names come and go under load. Run by
 * scripts/real-kubernetes, which builds it.
 *
 * <p>There is no kubelet and no controller: the test writes what these would write. The gateway has
 * an account with the rights of packaging/kustomize.
 */
@EnabledIfEnvironmentVariable(
    named = "KVASIR_KUBERNETES",
    matches = ".+",
    disabledReason = "needs a real API server: run scripts/real-kubernetes")
@Timeout(240)
class RealKubernetesTest {
  private static final int PORT = 8_101;
  private static final Duration STEP = Duration.ofMillis(2);
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int CALLERS = 6;
  private static final String POOLS = "/apis/inference.networking.k8s.io/v1/namespaces/";

  @TempDir private Path folder;

  private final List<AutoCloseable> opened = new ArrayList<>();
  private final List<Fleet> workers = new ArrayList<>();
  private final AtomicBoolean over = new AtomicBoolean();
  private final AtomicInteger answered = new AtomicInteger();
  private final Queue<String> failed = new ConcurrentLinkedQueue<>();
  private final HttpClient callers = HttpClient.newHttpClient();
  private final String admin = Files.readString(account().resolve("token"));
  private final HttpClient client;
  private String namespace = "";

  RealKubernetesTest() throws Exception {
    client = HttpClient.newBuilder().sslContext(trusting(account().resolve("ca.crt"))).build();
  }

  private static Path account() {
    return Path.of(System.getenv("KVASIR_KUBERNETES_ACCOUNT"));
  }

  private static SSLContext trusting(Path file) throws Exception {
    var store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    try (var in = new FileInputStream(file.toFile())) {
      int number = 0;
      for (var each : CertificateFactory.getInstance("X.509").generateCertificates(in)) {
        store.setCertificateEntry("" + number++, each);
      }
    }
    var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(store);
    var context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return context;
  }

  @BeforeEach
  void start() throws IOException {
    for (int i = 1; i <= 3; i++) {
      var settings = new FleetSettings(1, "10.77.0." + i, PORT, 8_192, EngineSettings.DEFAULT);
      workers.add(TestFleet.start(settings, () -> STEP));
    }
  }

  @AfterEach
  void stop() throws Exception {
    over.set(true);
    for (var each : opened.reversed()) each.close();
    workers.forEach(Fleet::close);
    callers.close();
    client.close();
  }

  /** Asks the API server as its administrator. */
  private JsonNode send(String method, String path, String json) throws Exception {
    var type = method.equals("PATCH") ? "application/merge-patch+json" : "application/json";
    var request =
        HttpRequest.newBuilder(URI.create(System.getenv("KVASIR_KUBERNETES") + path))
            .header("authorization", "Bearer " + admin)
            .header("content-type", type)
            .method(method, BodyPublishers.ofString(json))
            .build();
    var answer = client.send(request, BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(method + " " + path + answer.body()).isBetween(200, 202);
    return Json.read(answer.body().getBytes(StandardCharsets.UTF_8));
  }

  private void make(String kind) throws Exception {
    namespace = kind;
    send("POST", "/api/v1/namespaces", "{\"metadata\": {\"name\": \"%s\"}}".formatted(kind));
    var rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/" + kind;
    send("POST", core() + "/serviceaccounts", "{\"metadata\": {\"name\": \"kvasir\"}}");
    send("POST", rbac + "/roles", role());
    send(
        "POST",
        rbac + "/rolebindings",
        """
        {"metadata": {"name": "kvasir"},
         "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "kvasir"},
         "subjects": [{"kind": "ServiceAccount", "name": "kvasir", "namespace": "%s"}]}
        """
            .formatted(kind));
    var token = send("POST", core() + "/serviceaccounts/kvasir/token", "{\"spec\": {}}");
    Files.writeString(folder.resolve("token"), token.path("status").path("token").asString());
    Files.copy(account().resolve("ca.crt"), folder.resolve("ca.crt"));
  }

  /** The rights that the manifest gives. */
  private static String role() throws IOException {
    var rules = new ArrayList<String>();
    var manifest = Path.of(System.getProperty("kvasir.root"), "packaging/kustomize/gateway.yaml");
    for (var line : Files.readAllLines(manifest)) {
      if (!line.startsWith("  - {apiGroups: ")) continue;
      rules.add(
          line.substring(4)
              .replace("\"\"", "")
              .replaceAll("[a-z0-9.]*[a-z0-9]+(?=[],])", "\"$0\"")
              .replaceAll("(\\w+):", "\"$1\":")
              .replace("[]", "[\"\"]"));
    }
    assertThat(rules).hasSize(3);
    return "{\"metadata\": {\"name\": \"kvasir\"}, \"rules\": [" + String.join(",", rules) + "]}";
  }

  private String core() {
    return "/api/v1/namespaces/" + namespace;
  }

  /** Returns what the controller of endpoints writes for a service. */
  private String slice(List<Integer> present, int terminating) {
    var endpoints = new ArrayList<String>();
    for (int i : present) {
      endpoints.add(
          "{\"addresses\": [\"10.77.0.%d\"], \"conditions\": {\"ready\": %s, \"terminating\": %s}}"
              .formatted(i, i != terminating, i == terminating));
    }
    return """
    {"metadata": {"name": "vllm-1", "labels": {"kubernetes.io/service-name": "vllm"}},
     "addressType": "IPv4", "ports": [{"name": "http", "port": %d}], "endpoints": [%s]}
    """
        .formatted(PORT, String.join(",", endpoints));
  }

  private void addPod(int i) throws Exception {
    send(
        "POST",
        core() + "/pods",
        """
        {"metadata": {"name": "vllm-%d", "labels": {"app": "vllm"}},
         "spec": {"nodeName": "node", "containers": [{"name": "vllm", "image": "vllm",
                  "ports": [{"name": "http", "containerPort": %d}]}]}}
        """
            .formatted(i, PORT));
    send(
        "PATCH",
        core() + "/pods/vllm-" + i + "/status",
        """
        {"status": {"phase": "Running", "podIP": "10.77.0.%1$d",
                    "podIPs": [{"ip": "10.77.0.%1$d"}]}}
        """
            .formatted(i));
  }

  private void makePool() throws Exception {
    send(
        "POST",
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        """
        {"metadata": {"name": "inferencepools.inference.networking.k8s.io",
                      "annotations": {"api-approved.kubernetes.io": "unapproved, for a test"}},
         "spec": {"group": "inference.networking.k8s.io", "scope": "Namespaced",
                  "names": {"kind": "InferencePool", "plural": "inferencepools"},
                  "versions": [{"name": "v1", "served": true, "storage": true,
                    "schema": {"openAPIV3Schema": {"type": "object",
                               "x-kubernetes-preserve-unknown-fields": true}}}]}}
        """);
    var list =
        URI.create(System.getenv("KVASIR_KUBERNETES") + POOLS + namespace + "/inferencepools");
    var request = HttpRequest.newBuilder(list).header("authorization", "Bearer " + admin).build();
    await(() -> client.send(request, BodyHandlers.discarding()).statusCode() == 200);
    send(
        "POST",
        POOLS + namespace + "/inferencepools",
        """
        {"apiVersion": "inference.networking.k8s.io/v1", "kind": "InferencePool",
         "metadata": {"name": "vllm"},
         "spec": {"selector": {"matchLabels": {"app": "vllm"}},
                  "targetPorts": [{"number": %d}]}}
        """
            .formatted(PORT));
  }

  private Serving serving(String kind) throws Exception {
    var meant =
        switch (kind) {
          case "service" -> "service: vllm";
          case "pods" -> "pods: app=vllm";
          default -> "pool: vllm";
        };
    var file = folder.resolve("kvasir.yaml");
    // So slow a pace that only a watch can tell of a change in time.
    Files.writeString(
        file,
        """
        discovery:
          pace: 5m
          kubernetes: {%s, namespace: %s, api: "%s", account: "%s"}
        """
            .formatted(meant, namespace, System.getenv("KVASIR_KUBERNETES"), folder));
    var all = new ServeOptions();
    var line = List.of("--config=" + file, "--port=0", "--admin-port=0");
    CommandLine.populateCommand(all, line.toArray(String[]::new));
    var serving = Serving.of(all.configuration(Map.of()).read(), folder.resolve("cache"), "test");
    opened.add(serving);
    return serving;
  }

  private interface Question {
    boolean holds() throws Exception;
  }

  private static void await(Question question) throws Exception {
    long start = System.nanoTime();
    while (!question.holds()) {
      assertThat(System.nanoTime() - start).isLessThan(PATIENCE.toNanos());
      Thread.sleep(10);
    }
  }

  /** The workers of the gateway; one that leaves is among them until its answers are out. */
  private List<String> workers(Serving serving) throws Exception {
    var url = URI.create(serving.gateway().adminUrl() + "/workers");
    var answer = callers.send(HttpRequest.newBuilder(url).build(), BodyHandlers.ofByteArray());
    var names = new ArrayList<String>();
    for (var worker : Json.read(answer.body()).path("workers")) {
      boolean isReady = worker.path("availability").asString().equals("ready");
      names.add(worker.path("name").asString() + (isReady ? "" : " not ready"));
    }
    return names;
  }

  private static List<String> names(int... workers) {
    var names = new ArrayList<String>();
    for (int each : workers) names.add("10.77.0." + each + ":" + PORT);
    return names;
  }

  /** Asks without end; each answer must be whole. */
  private void load(Serving serving) {
    for (int i = 0; i < CALLERS; i++) {
      int caller = i;
      Thread.ofVirtual().start(() -> call(serving, caller));
    }
  }

  private void call(Serving serving, int caller) {
    for (int i = 0; !over.get(); i++) {
      var body =
          "{\"model\": \"%s\", \"prompt\": \"%d of %d: %s\", \"max_tokens\": 20, \"stream\": true}"
              .formatted(TestFleet.MODEL, i, caller, "the lantern by the door ".repeat(20));
      var request =
          HttpRequest.newBuilder(URI.create(serving.gateway().url() + "/v1/completions"))
              .header("content-type", "application/json")
              .POST(BodyPublishers.ofString(body))
              .build();
      try {
        var answer = callers.send(request, BodyHandlers.ofString());
        boolean isWhole = answer.body().endsWith("data: [DONE]\n\n");
        if (answer.statusCode() == 200 && isWhole) answered.incrementAndGet();
        else failed.add(answer.statusCode() + " " + answer.body());
      } catch (IOException | InterruptedException e) {
        if (!over.get()) failed.add(e.toString());
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"service", "pods", "pool"})
  void workersComeAndGoWithoutALostRequest(String kind) throws Exception {
    make(kind);
    boolean isService = kind.equals("service");
    var slices = "/apis/discovery.k8s.io/v1/namespaces/" + kind + "/endpointslices";
    if (kind.equals("pool")) makePool();
    if (isService) send("POST", slices, slice(List.of(1, 2), 0));
    else for (int i = 1; i <= 2; i++) addPod(i);
    var serving = serving(kind);
    await(() -> workers(serving).equals(names(1, 2)));
    load(serving);
    await(() -> answered.get() > 20);
    long begun = System.nanoTime();
    if (isService) send("PATCH", slices + "/vllm-1", slice(List.of(1, 2, 3), 0));
    else addPod(3);
    await(() -> workers(serving).equals(names(1, 2, 3)));
    long came = System.nanoTime();
    int before = answered.get();
    await(() -> answered.get() > before + 20);
    long leaving = System.nanoTime();
    if (isService) send("PATCH", slices + "/vllm-1", slice(List.of(1, 2, 3), 1));
    else send("DELETE", core() + "/pods/vllm-1", "{\"gracePeriodSeconds\": 60}");
    await(() -> workers(serving).equals(names(2, 3)));
    long gone = System.nanoTime();
    workers.getFirst().worker(0).kill();
    int after = answered.get();
    await(() -> answered.get() > after + 40);
    over.set(true);
    assertThat(failed).isEmpty();
    System.out.printf(
        "%s: a worker that came was ready after %d ms, one that left was gone after %d ms,"
            + " %d streams whole, %d failed%n",
        kind,
        (came - begun) / 1_000_000,
        (gone - leaving) / 1_000_000,
        answered.get(),
        failed.size());
  }
}
