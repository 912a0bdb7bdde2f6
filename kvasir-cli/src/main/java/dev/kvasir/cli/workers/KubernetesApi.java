package dev.kvasir.cli.workers;

import dev.kvasir.Nullable;
import dev.kvasir.cli.settings.KubernetesSettings;
import dev.kvasir.net.Json;
import dev.kvasir.net.Refused;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpResponse.BodySubscribers;
import java.nio.file.Files;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import tools.jackson.databind.JsonNode;

/** The API server of Kubernetes, asked with the account of the pod; from any thread. */
final class KubernetesApi {
  /** For each answer to its last byte, and for as much as a watch may be late to end. */
  private static final Duration TIME = Duration.ofSeconds(10);

  /** Some thousand pods. */
  private static final int BYTES_MAX = 32 << 20;

  /** After this time the API server ends a watch, which is then begun anew. */
  private static final Duration WATCH = Duration.ofMinutes(5);

  private final KubernetesSettings settings;
  private final Duration time;
  private final Duration watch;
  private @Nullable HttpClient client;

  KubernetesApi(KubernetesSettings settings) {
    this(settings, TIME, WATCH);
  }

  KubernetesApi(KubernetesSettings settings, Duration time, Duration watch) {
    this.settings = settings;
    this.time = time;
    this.watch = watch;
  }

  /**
   * Returns the JSON at that path.
   *
   * @param path from the root, with a query if need be
   */
  JsonNode read(String path) throws IOException {
    var answer = send(path, BodyHandlers.limiting(BodyHandlers.ofByteArray(), BYTES_MAX), time);
    if (answer.statusCode() != 200) {
      throw new IOException("the API server answered " + answer.statusCode() + " for " + url(path));
    }
    try {
      return Json.read(answer.body());
    } catch (Refused e) {
      throw new IOException("the answer of the API server cannot be read", e);
    }
  }

  /**
   * Reports each change of the list, and first each entry that exists. Returns when the API server
   * ends the watch, or fails where it does not, or the thread is interrupted.
   */
  void watch(String list, Runnable changed) throws IOException {
    var path =
        list + (list.contains("?") ? "&" : "?") + "watch=1&timeoutSeconds=" + watch.toSeconds();
    // That a line ended is all that counts, so none is kept.
    var answer =
        send(
            path,
            head ->
                head.statusCode() == 200
                    ? BodySubscribers.ofByteArrayConsumer(
                        bytes -> bytes.filter(KubernetesApi::hasLine).ifPresent(_ -> changed.run()))
                    : BodySubscribers.replacing(null),
            watch.plus(time));
    if (answer.statusCode() != 200) {
      throw new IOException("the API server answered " + answer.statusCode() + " for a watch");
    }
  }

  private static boolean hasLine(byte[] bytes) {
    for (byte each : bytes) if (each == '\n') return true;
    return false;
  }

  /** The time of a request ends with the head of its answer; this one holds for all of it. */
  private <T> HttpResponse<T> send(String path, BodyHandler<T> handler, Duration whole)
      throws IOException {
    var token = settings.account().resolve("token");
    var request =
        HttpRequest.newBuilder(url(path)).timeout(time).header("accept", "application/json");
    if (Files.exists(token)) {
      // It is renewed every hour or so.
      request.header("authorization", "Bearer " + Files.readString(token).strip());
    }
    var answer = client().sendAsync(request.build(), handler);
    try {
      return answer.get(whole.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    } catch (TimeoutException e) {
      throw new IOException(
          "the answer of the API server did not end within " + whole.toSeconds() + " s", e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof IOException cause) throw cause;
      throw new IOException("the API server cannot be asked", e);
    } finally {
      answer.cancel(true);
    }
  }

  private URI url(String path) {
    return URI.create(settings.api() + path);
  }

  private synchronized HttpClient client() throws IOException {
    var known = client;
    if (known != null) return known;
    var builder = HttpClient.newBuilder().connectTimeout(time);
    var authority = settings.account().resolve("ca.crt");
    if (Files.exists(authority)) builder.sslContext(trusting(Files.readAllBytes(authority)));
    var made = builder.build();
    client = made;
    return made;
  }

  /** Trusts who signed the certificate of the API server. */
  private static SSLContext trusting(byte[] pem) throws IOException {
    try {
      var store = KeyStore.getInstance(KeyStore.getDefaultType());
      store.load(null, null);
      var certificates =
          CertificateFactory.getInstance("X.509")
              .generateCertificates(new ByteArrayInputStream(pem));
      int number = 0;
      for (var certificate : certificates) store.setCertificateEntry("" + number++, certificate);
      var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(store);
      var context = SSLContext.getInstance("TLS");
      context.init(null, trust.getTrustManagers(), null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new IOException("the certificate of the API server cannot be used", e);
    }
  }
}
