package dev.kvasir.cli.serve;

import dev.kvasir.Nullable;
import dev.kvasir.live.http.ApiKeys;
import dev.kvasir.live.http.HttpLimits;
import dev.kvasir.live.http.HttpSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * Where requests come in, and whose.
 *
 * @param port 0 for any that is free
 * @param adminPort for metrics and draining, on this machine alone; 0 for any that is free
 * @param apiKeys a file with a line for each key; null where everybody may ask
 * @param tlsCertificate a file in PEM; null for none
 * @param tlsKey the key of the certificate, in PEM
 */
public record ListenSettings(
    String host,
    int port,
    int adminPort,
    @Nullable Path apiKeys,
    @Nullable Path tlsCertificate,
    @Nullable Path tlsKey) {
  public static final ListenSettings DEFAULT =
      new ListenSettings(HttpSettings.LOOPBACK, 8_000, 8_001, null, null, null);

  private static final List<String> LOOPBACKS = List.of("127.0.0.1", "localhost", "::1");

  public ListenSettings {
    if ((tlsCertificate == null) != (tlsKey == null)) {
      throw new IllegalArgumentException("TLS needs both a certificate and its key");
    }
    var _ = new HttpSettings(host, port, HttpLimits.DEFAULT, ApiKeys.NONE, null);
    var _ = HttpSettings.local(adminPort);
  }

  /** Whether others than this machine may ask, whoever they are. */
  boolean isOpenToAnybody() {
    return apiKeys == null && !LOOPBACKS.contains(host);
  }

  ListenSettings withKeys(@Nullable Path file) {
    return new ListenSettings(host, port, adminPort, file, tlsCertificate, tlsKey);
  }

  ApiKeys keys() throws IOException {
    return apiKeys == null ? ApiKeys.NONE : KeyFile.read(apiKeys);
  }

  HttpSettings api(HttpLimits limits, ApiKeys keys) {
    var tls =
        tlsCertificate == null || tlsKey == null
            ? null
            : new HttpSettings.Tls(tlsCertificate.toString(), tlsKey.toString());
    return new HttpSettings(host, port, limits, keys, tls);
  }

  HttpSettings admin(ApiKeys keys) {
    return HttpSettings.local(adminPort).with(keys);
  }
}
