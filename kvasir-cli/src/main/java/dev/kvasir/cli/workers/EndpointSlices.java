package dev.kvasir.cli.workers;

import dev.kvasir.Nullable;
import dev.kvasir.cli.settings.DiscoverySettings;
import dev.kvasir.cli.settings.KubernetesSettings;
import dev.kvasir.cli.settings.WorkerSettings;
import dev.kvasir.live.http.Json;
import dev.kvasir.live.http.Refused;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import tools.jackson.databind.JsonNode;

/**
 * The workers of a Kubernetes service: the endpoints of its EndpointSlices, asked of the API server
 * with the account of the pod.
 *
 * <p>Endpoints that terminate are left out. Whether the others are ready the router finds out by
 * itself, so that what the API server knows of that may be late.
 */
final class EndpointSlices implements WorkerDiscovery.Lookup {
  private static final Duration TIME = Duration.ofSeconds(5);

  private final DiscoverySettings settings;
  private final KubernetesSettings kubernetes;
  private @Nullable HttpClient client;

  EndpointSlices(DiscoverySettings settings) {
    this.settings = settings;
    this.kubernetes = settings.kubernetes();
  }

  @Override
  public List<WorkerSettings> workers() throws IOException {
    var addresses = new TreeSet<String>();
    for (var slice : slices().path("items")) {
      var port = port(slice.path("ports"));
      for (var endpoint : slice.path("endpoints")) {
        if (port.isEmpty() || endpoint.path("conditions").path("terminating").asBoolean(false)) {
          continue;
        }
        // All addresses of an endpoint are the same pod.
        var address = endpoint.path("addresses").path(0).asString("");
        if (!address.isEmpty()) addresses.add(address + " " + port);
      }
    }
    var workers = new ArrayList<WorkerSettings>();
    for (var each : addresses) {
      var parts = each.split(" ", -1);
      workers.add(
          settings.worker(parts[0].contains(":") ? "[" + parts[0] + "]" : parts[0], parts[1]));
    }
    return workers;
  }

  /** The port of that name, or the only one; empty where there is none. */
  private String port(JsonNode ports) {
    for (var port : ports) {
      boolean isMeant =
          kubernetes.port().isEmpty()
              ? ports.size() == 1
              : port.path("name").asString("").equals(kubernetes.port());
      if (isMeant) return port.path("port").asString("");
    }
    return "";
  }

  private JsonNode slices() throws IOException {
    var token = kubernetes.account().resolve("token");
    var request = HttpRequest.newBuilder(url()).timeout(TIME).header("accept", "application/json");
    if (Files.exists(token)) {
      // It is renewed every hour or so.
      request.header("authorization", "Bearer " + Files.readString(token).strip());
    }
    try {
      var answer = client().send(request.build(), BodyHandlers.ofByteArray());
      if (answer.statusCode() != 200) {
        throw new IOException("the API server answered " + answer.statusCode() + " for " + url());
      }
      return Json.read(answer.body());
    } catch (Refused e) {
      throw new IOException("the answer of the API server cannot be read", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  private URI url() {
    return URI.create(
        kubernetes.api()
            + "/apis/discovery.k8s.io/v1/namespaces/"
            + kubernetes.namespace()
            + "/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3D"
            + kubernetes.service()
            + "&resourceVersion=0");
  }

  private HttpClient client() throws IOException {
    var known = client;
    if (known != null) return known;
    var builder = HttpClient.newBuilder().connectTimeout(TIME);
    var authority = kubernetes.account().resolve("ca.crt");
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

  @Override
  public String toString() {
    return "service " + kubernetes.namespace() + "/" + kubernetes.service();
  }
}
