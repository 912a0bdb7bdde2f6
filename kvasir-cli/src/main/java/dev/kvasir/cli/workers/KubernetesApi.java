package dev.kvasir.cli.workers;

import dev.kvasir.Nullable;
import dev.kvasir.cli.settings.KubernetesSettings;
import dev.kvasir.live.http.Json;
import dev.kvasir.live.http.Refused;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import tools.jackson.databind.JsonNode;

/** The API server of Kubernetes, asked with the account of the pod; from any thread. */
final class KubernetesApi {
  private static final Duration TIME = Duration.ofSeconds(5);

  /** After this time the API server ends a watch, which is then begun anew. */
  private static final int WATCH_SECONDS = 300;

  private final KubernetesSettings settings;
  private @Nullable HttpClient client;

  KubernetesApi(KubernetesSettings settings) {
    this.settings = settings;
  }

  /**
   * What lies there.
   *
   * @param path from the root, with a query if need be
   */
  JsonNode read(String path) throws IOException {
    var answer = send(path, BodyHandlers.ofByteArray());
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
   * ends the watch, or the thread is interrupted.
   */
  void watch(String list, Runnable changed) throws IOException {
    var path = list + (list.contains("?") ? "&" : "?") + "watch=1&timeoutSeconds=" + WATCH_SECONDS;
    var answer = send(path, BodyHandlers.ofLines());
    try (var lines = answer.body()) {
      if (answer.statusCode() != 200) {
        throw new IOException("the API server answered " + answer.statusCode() + " for a watch");
      }
      lines.forEach(_ -> changed.run());
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private <T> HttpResponse<T> send(String path, BodyHandler<T> handler) throws IOException {
    var token = settings.account().resolve("token");
    var request =
        HttpRequest.newBuilder(url(path)).timeout(TIME).header("accept", "application/json");
    if (Files.exists(token)) {
      // It is renewed every hour or so.
      request.header("authorization", "Bearer " + Files.readString(token).strip());
    }
    try {
      return client().send(request.build(), handler);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  private URI url(String path) {
    return URI.create(settings.api() + path);
  }

  private synchronized HttpClient client() throws IOException {
    var known = client;
    if (known != null) return known;
    var builder = HttpClient.newBuilder().connectTimeout(TIME);
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
