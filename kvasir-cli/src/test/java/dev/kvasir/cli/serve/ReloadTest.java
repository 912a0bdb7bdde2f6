package dev.kvasir.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.kvasir.cli.config.GivenOptions;
import dev.kvasir.cli.settings.Configuration;
import dev.kvasir.cli.settings.Deployment;
import dev.kvasir.net.TestIdentity;
import dev.kvasir.net.auth.ApiKey;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Workers and keys that change while it serves, over real HTTP. */
class ReloadTest {
  private final HttpClient client = HttpClient.newHttpClient();
  private final BlockingQueue<String> log = new LinkedBlockingQueue<>();
  private final StandIn one = new StandIn("one");
  private final StandIn two = new StandIn("two");

  @TempDir private Path folder;
  private Path file;
  private Configuration configuration;
  private Deployment settings;
  private Serving serving;
  private Reload reload;

  @BeforeEach
  void start() throws IOException {
    file = folder.resolve("kvasir.yaml");
    write(one);
    configuration = new Configuration(file, Map.of(), GivenOptions.NOTHING.keys());
    settings = configuration.read();
    serving = Serving.of(settings, folder, "test");
    reload = new Reload(configuration, settings, serving, Duration.ofMillis(20), log::add);
  }

  @AfterEach
  void stop() {
    reload.close();
    serving.close();
    client.close();
    one.close();
    two.close();
  }

  @Test
  void aWorkerThatIsAddedAnswersAndOneThatIsTakenOutEndsWhatItHas() throws Exception {
    one.hold = new CountDownLatch(1);
    var underWay = CompletableFuture.supplyAsync(() -> send(""));
    assertThat(one.begun.tryAcquire(20, TimeUnit.SECONDS)).isTrue();
    write(two);
    assertThat(nextLine()).isEqualTo("the settings were read again; changed: workers");
    assertThat(send("")).isEqualTo("200 two");
    assertThat(workers()).contains("\"name\":\"one\"", "draining", "\"name\":\"two\"");
    one.hold.countDown();
    assertThat(underWay.get(20, TimeUnit.SECONDS)).isEqualTo("200 one");
    for (int i = 0; i < 6_000 && workers().contains("one"); i++) Thread.sleep(10);
    assertThat(workers()).doesNotContain("\"name\":\"one\"");
    assertThat(send("")).isEqualTo("200 two");
    write(one, two);
    nextLine();
    assertThat(List.of(send(""), send(""))).containsExactlyInAnyOrder("200 one", "200 two");
  }

  @Test
  void keysAreReplacedAndABrokenFileChangesNothing() throws Exception {
    assertThat(send("")).isEqualTo("200 one");
    var keys = folder.resolve("keys");
    replace(keys, "ada " + ApiKey.of("ada", "first").sha256());
    var open = Files.readString(file);
    replace(file, open.replace("port: 0}", "port: 0, api-keys: keys}"));
    nextLine();
    assertThat(send("")).startsWith("401");
    assertThat(send("first")).isEqualTo("200 one");
    replace(keys, "ada " + ApiKey.of("ada", "second").sha256() + " admin\n");
    nextLine();
    assertThat(send("first")).startsWith("401");
    assertThat(send("second")).isEqualTo("200 one");
    var good = Files.readString(file);
    replace(file, good + "lisen: {}\n");
    assertThat(nextLine())
        .startsWith("the settings stay as they were: " + file)
        .endsWith("did you mean 'listen'?");
    assertThat(send("second")).isEqualTo("200 one");
    replace(file, "workers: []\n");
    assertThat(nextLine()).contains("the settings stay as they were", "without a restart");
    Files.delete(file);
    assertThat(nextLine()).isEqualTo("the settings stay as they were: there is no file " + file);
    assertThat(send("second")).isEqualTo("200 one");
    assertThat(send("second")).isEqualTo("200 one");
    var other = good.replace("admin-port: 0", "admin-port: 1").replace("50ms", "60ms");
    replace(file, other);
    assertThat(nextLine())
        .isEqualTo(
            "the settings were read again;"
                + " a restart is needed for listen.admin-port, routing.probe-pace");
  }

  @Test
  void theQueueAndWhatIsAdmittedAreReplaced() throws Exception {
    one.hold = new CountDownLatch(1);
    var underWay = CompletableFuture.supplyAsync(() -> send(""));
    assertThat(one.begun.tryAcquire(20, TimeUnit.SECONDS)).isTrue();
    var open = Files.readString(file);
    replace(file, open + "limits: {queue: {in-flight-max: 1, waiting-max: 0}}\n");
    assertThat(nextLine())
        .isEqualTo(
            "the settings were read again;"
                + " changed: limits.queue.in-flight-max, limits.queue.waiting-max");
    assertThat(send("")).startsWith("429 ").contains("queue is full");
    replace(file, open + "limits: {admission: {policy: reject-all}}\n");
    nextLine();
    assertThat(send("")).startsWith("429 ").contains("not_admitted");
    replace(file, open);
    nextLine();
    one.hold.countDown();
    assertThat(underWay.get(20, TimeUnit.SECONDS)).isEqualTo("200 one");
    assertThat(send("")).isEqualTo("200 one");
  }

  @Test
  void aCertificateIsReplacedAndAWrongOneChangesNothing() throws Exception {
    var old = TestIdentity.make(Files.createDirectory(folder.resolve("old")));
    var next = TestIdentity.make(Files.createDirectory(folder.resolve("next")));
    var certificate = Files.copy(old.certificate(), folder.resolve("certificate.pem"));
    var key = Files.copy(old.key(), folder.resolve("key.pem"));
    var text = Files.readString(file);
    var tls = "port: 0, tls-certificate: certificate.pem, tls-key: key.pem}";
    var secure = Files.writeString(folder.resolve("tls.yaml"), text.replace("port: 0}", tls));
    var written = new Configuration(secure, Map.of(), GivenOptions.NOTHING.keys());
    var lines = new LinkedBlockingQueue<String>();
    try (var served = Serving.of(written.read(), folder, "test");
        var _ = new Reload(written, written.read(), served, Duration.ofMillis(20), lines::add)) {
      int port = served.gateway().port();
      assertThat(presented(port)).isEqualTo(pem(old.certificate()));
      replace(key, "no key");
      assertThat(lines.poll(20, TimeUnit.SECONDS))
          .startsWith("the settings stay as they were: the certificate " + certificate);
      assertThat(presented(port)).isEqualTo(pem(old.certificate()));
      Files.copy(next.key(), key, StandardCopyOption.REPLACE_EXISTING);
      Files.copy(next.certificate(), certificate, StandardCopyOption.REPLACE_EXISTING);
      for (int i = 0; i < 6_000 && !presented(port).equals(pem(next.certificate())); i++) {
        Thread.sleep(20);
      }
      assertThat(presented(port)).isEqualTo(pem(next.certificate()));
      Files.copy(old.key(), key, StandardCopyOption.REPLACE_EXISTING);
      var last = "";
      while (!last.startsWith("the settings stay")) last = lines.poll(20, TimeUnit.SECONDS);
      assertThat(presented(port)).isEqualTo(pem(next.certificate()));
    }
  }

  private static X509Certificate pem(Path certificate) throws Exception {
    try (var in = Files.newInputStream(certificate)) {
      return (X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(in);
    }
  }

  /** Returns the certificate that a server shows to a client that connects. */
  private static X509Certificate presented(int port) throws Exception {
    var shown = new AtomicReference<X509Certificate>();
    var trust =
        new X509ExtendedTrustManager() {
          @Override
          public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) {
            shown.set(chain[0]);
          }

          @Override
          public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

          @Override
          public void checkServerTrusted(X509Certificate[] chain, String type) {}

          @Override
          public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) {}

          @Override
          public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

          @Override
          public void checkClientTrusted(X509Certificate[] chain, String type) {}

          @Override
          public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
          }
        };
    var context = SSLContext.getInstance("TLS");
    context.init(null, new TrustManager[] {trust}, null);
    var address = InetAddress.getLoopbackAddress();
    try (var socket = (SSLSocket) context.getSocketFactory().createSocket(address, port)) {
      socket.setSoTimeout(20_000);
      socket.startHandshake();
    }
    return shown.get();
  }

  @Test
  void workersComeAndGoByTheApi() throws Exception {
    assertThat(send("")).isEqualTo("200 one");
    var body = "{\"url\": \"%s\", \"name\": \"two\"}".formatted(two.url());
    assertThat(change("POST", "", body)).startsWith("200 ").contains("\"two\"");
    assertThat(List.of(send(""), send(""))).containsExactlyInAnyOrder("200 one", "200 two");
    assertThat(change("POST", "", body)).startsWith("409 ").contains("comes from api");
    assertThat(change("POST", "", "{\"name\": \"three\"}")).startsWith("400 ").contains("url");
    assertThat(change("POST", "", "{\"url\": \"http://a:1\", \"rule\": \"both\"}"))
        .startsWith("400 ")
        .contains("did you mean 'role'?");
    assertThat(change("DELETE", "?name=nobody", "")).startsWith("404 ");
    assertThat(change("DELETE", "?name=one", "")).startsWith("409 ").contains("settings");
    assertThat(change("DELETE", "?name=two", "")).startsWith("200 ");
    assertThat(List.of(send(""), send(""))).containsExactly("200 one", "200 one");
  }

  @Test
  void aWorkerThatIsAddedAgainWhileItEndsWhatItHasStays() throws Exception {
    var body = "{\"url\": \"%s\", \"name\": \"two\"}".formatted(two.url());
    change("POST", "", body);
    two.hold = new CountDownLatch(1);
    var underWay =
        List.of(
            CompletableFuture.supplyAsync(() -> send("")),
            CompletableFuture.supplyAsync(() -> send("")));
    assertThat(two.begun.tryAcquire(20, TimeUnit.SECONDS)).isTrue();
    assertThat(change("DELETE", "?name=two", "")).startsWith("200 ");
    assertThat(send("")).isEqualTo("200 one");
    assertThat(change("POST", "", body)).startsWith("200 ");
    two.hold.countDown();
    var answers = underWay.stream().map(CompletableFuture::join).toList();
    assertThat(answers).containsExactlyInAnyOrder("200 one", "200 two");
    assertThat(List.of(send(""), send(""))).containsExactlyInAnyOrder("200 one", "200 two");
  }

  private String change(String method, String query, String body) throws Exception {
    var url = URI.create(serving.gateway().adminUrl() + "/workers" + query);
    var request = HttpRequest.newBuilder(url).header("content-type", "application/json");
    var content =
        body.isEmpty()
            ? HttpRequest.BodyPublishers.noBody()
            : HttpRequest.BodyPublishers.ofString(body);
    var answer = client.send(request.method(method, content).build(), BodyHandlers.ofString());
    return answer.statusCode() + " " + answer.body();
  }

  private void write(StandIn... workers) throws IOException {
    var yaml = new StringBuilder("routing: {probe-pace: 50ms, policy: round-robin}\n");
    yaml.append("workers:\n");
    for (var worker : workers) yaml.append("  - ").append(worker.yaml()).append("\n");
    yaml.append("listen: {port: 0, admin-port: 0}\n");
    replace(file, yaml.toString());
  }

  /** At once: what is there while a file is written must not be read as another setting. */
  private void replace(Path path, String text) throws IOException {
    var written = Files.writeString(folder.resolve("written"), text);
    Files.move(written, path, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
  }

  private String nextLine() throws InterruptedException {
    var line = log.poll(20, TimeUnit.SECONDS);
    return line == null ? "nothing" : line;
  }

  private String workers() throws Exception {
    var url = URI.create(serving.gateway().adminUrl() + "/workers");
    return client.send(HttpRequest.newBuilder(url).build(), BodyHandlers.ofString()).body();
  }

  /** The status, and who answered. */
  private String send(String key) {
    var request =
        HttpRequest.newBuilder(URI.create(serving.gateway().url() + "/v1/completions"))
            .header("content-type", "application/json")
            .header("authorization", "Bearer " + key)
            .POST(HttpRequest.BodyPublishers.ofString("{\"prompt\": \"a\"}"))
            .build();
    var answer = client.sendAsync(request, BodyHandlers.ofString()).join();
    return answer.statusCode() + " " + answer.body();
  }

  /** A worker that answers with its name, when it is let. */
  private static final class StandIn implements AutoCloseable {
    private final String name;
    private final HttpServer server;
    private final Semaphore begun = new Semaphore(0);
    private volatile CountDownLatch hold = new CountDownLatch(0);

    StandIn(String name) {
      this.name = name;
      try {
        var place = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        server = HttpServer.create(place, 0);
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
      server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
      server.createContext("/health", exchange -> answer(exchange, ""));
      server.createContext("/v1/completions", this::complete);
      server.start();
    }

    private void complete(HttpExchange exchange) throws IOException {
      begun.release();
      try {
        hold.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      answer(exchange, name);
    }

    private static void answer(HttpExchange exchange, String text) throws IOException {
      var bytes = text.getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(200, bytes.length == 0 ? -1 : bytes.length);
      try (var body = exchange.getResponseBody()) {
        body.write(bytes);
      }
    }

    String url() {
      return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    String yaml() {
      return "{url: '%s', name: %s}".formatted(url(), name);
    }

    @Override
    public void close() {
      server.stop(0);
    }
  }
}
