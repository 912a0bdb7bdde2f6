package dev.kvasir.cli.settings;

import dev.kvasir.Nullable;
import dev.kvasir.live.http.ApiKeys;
import dev.kvasir.live.http.HttpLimits;
import dev.kvasir.live.http.HttpSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Where requests come in, and whose.
 *
 * @param port 0 for any that is free
 * @param adminPort for metrics and draining, on this machine alone; 0 for any that is free
 * @param pickerPort where Envoy asks for endpoints, with {@code kvasir picker} alone; 0 for any
 *     that is free
 * @param apiKeys a file with a line for each key; null where everybody may ask
 * @param tlsCertificate a file in PEM; null for none
 * @param tlsKey the key of the certificate, in PEM
 * @param names under which callers reach it besides, as by way of a proxy: without keys no others
 *     are served on this machine's own addresses
 */
public record ListenSettings(
    String host,
    int port,
    int adminPort,
    int pickerPort,
    @Nullable Path apiKeys,
    @Nullable Path tlsCertificate,
    @Nullable Path tlsKey,
    List<String> names) {
  public static final ListenSettings DEFAULT =
      new ListenSettings(HttpSettings.LOOPBACK, 8_000, 8_001, 9_002, null, null, null, List.of());

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+\\]");

  public ListenSettings {
    names = List.copyOf(names);
    for (var name : names) {
      if (!NAME.matcher(name).matches()) {
        throw new IllegalArgumentException(
            "name '" + name + "', expected a host name without scheme and port, as in example.org");
      }
    }
    if ((tlsCertificate == null) != (tlsKey == null)) {
      throw new IllegalArgumentException("TLS needs both tls-certificate and tls-key");
    }
    var _ = HttpSettings.local(port).at(host, port);
    var _ = HttpSettings.local(adminPort);
    var _ = HttpSettings.local(pickerPort);
  }

  /** Whether others than this machine may ask, whoever they are. */
  public boolean isOpenToAnybody() {
    return apiKeys == null && !HttpSettings.local(port).at(host, port).isLoopback();
  }

  public ListenSettings withKeys(@Nullable Path file) {
    return new ListenSettings(
        host, port, adminPort, pickerPort, file, tlsCertificate, tlsKey, names);
  }

  public ApiKeys keys() throws IOException {
    return apiKeys == null ? ApiKeys.NONE : KeyFile.read(apiKeys);
  }

  public HttpSettings api(HttpLimits limits, ApiKeys keys) {
    var tls =
        tlsCertificate == null || tlsKey == null
            ? null
            : new HttpSettings.Tls(tlsCertificate.toString(), tlsKey.toString());
    return new HttpSettings(host, port, limits, keys, tls, names);
  }

  public HttpSettings admin(ApiKeys keys) {
    return HttpSettings.local(adminPort).with(keys).named(names);
  }
}
