package dev.kvasir.cli.settings;

import dev.kvasir.Nullable;
import dev.kvasir.net.Secret;
import dev.kvasir.net.auth.ApiKey;
import dev.kvasir.net.auth.ApiKeys;
import dev.kvasir.net.server.HttpLimits;
import dev.kvasir.net.server.HttpSettings;
import dev.kvasir.spec.Durations;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Settings for where the gateway listens, and who may call.
 *
 * @param port 0 for any that is free
 * @param adminPort for metrics and draining, on this machine alone; 0 for any that is free
 * @param pickerPort where Envoy asks for endpoints, with {@code kvasir picker} alone; 0 for any
 *     that is free
 * @param apiKeys a file with a line for each key; null where everybody may ask
 * @param tlsCertificate a file in PEM; null for none
 * @param tlsKey the key of the certificate, in PEM
 * @param names further host names under which callers reach it, such as that of a proxy; without
 *     keys, other names are refused on loopback addresses
 * @param metrics where metrics are served besides the admin port
 * @param restart how the next process takes over
 */
public record ListenSettings(
    String host,
    int port,
    int adminPort,
    int pickerPort,
    @Nullable Path apiKeys,
    @Nullable Path tlsCertificate,
    @Nullable Path tlsKey,
    List<String> names,
    Metrics metrics,
    Restart restart) {
  public static final ListenSettings DEFAULT =
      new ListenSettings(
          HttpSettings.LOOPBACK,
          8_000,
          8_001,
          9_002,
          null,
          null,
          null,
          List.of(),
          Metrics.NONE,
          Restart.DEFAULT);

  /**
   * A server for metrics alone, which Prometheus can reach from another machine.
   *
   * @param host the address to listen on; empty for no such server
   * @param port 0 for any that is free
   * @param key what is to be sent as bearer token; null where only this machine can ask
   */
  public record Metrics(String host, int port, @Nullable Secret key) {
    public static final Metrics NONE = new Metrics("", 8_003, null);

    public Metrics {
      var server = HttpSettings.local(port);
      if (!host.isEmpty() && key == null && !server.at(host, port).isLoopback()) {
        throw new IllegalArgumentException(
            "metrics.host " + host + " is open to other machines and needs metrics.key");
      }
    }
  }

  /**
   * Settings for how a process hands over to the next one.
   *
   * @param leaveTime how long it serves on after a signal to stop, while {@code /ready} says no, so
   *     that load balancers notice
   * @param finishTime how long requests in flight may take after that
   * @param port whether another process may listen on the same ports meanwhile
   */
  public record Restart(Duration leaveTime, Duration finishTime, HttpSettings.Sharing port) {
    public static final Restart DEFAULT =
        new Restart(Duration.ZERO, Duration.ofSeconds(30), HttpSettings.Sharing.ALONE);

    public Restart {
      if (leaveTime.isNegative() || finishTime.isNegative()) {
        throw new IllegalArgumentException(
            "leave-time %s and finish-time %s, expected 0s or more"
                .formatted(Durations.text(leaveTime), Durations.text(finishTime)));
      }
    }

    /** All of it. */
    public Duration time() {
      return leaveTime.plus(finishTime);
    }
  }

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

  /** Returns whether other machines may call without a key. */
  public boolean isOpenToAnybody() {
    return apiKeys == null && !HttpSettings.local(port).at(host, port).isLoopback();
  }

  /** These, with what can be changed while it listens. */
  public ListenSettings withRunning(ListenSettings from) {
    boolean same = (tlsCertificate == null) == (from.tlsCertificate == null);
    return new ListenSettings(
        host,
        port,
        adminPort,
        pickerPort,
        from.apiKeys,
        same ? from.tlsCertificate : tlsCertificate,
        same ? from.tlsKey : tlsKey,
        names,
        metrics,
        new Restart(from.restart.leaveTime(), from.restart.finishTime(), restart.port()));
  }

  /** The certificate and its key; null for plain HTTP. */
  public HttpSettings.@Nullable Tls tls() {
    return tlsCertificate == null || tlsKey == null
        ? null
        : new HttpSettings.Tls(tlsCertificate.toString(), tlsKey.toString());
  }

  public ApiKeys keys() throws IOException {
    return apiKeys == null ? ApiKeys.NONE : KeyFile.read(apiKeys);
  }

  public HttpSettings api(HttpLimits limits, ApiKeys keys) {
    return new HttpSettings(host, port, limits, keys, tls(), names, restart.port());
  }

  public HttpSettings admin(ApiKeys keys) {
    return HttpSettings.local(adminPort).with(keys).named(names).with(restart.port());
  }

  /** The server for metrics alone; null for none. */
  public @Nullable HttpSettings metricsServer() {
    if (metrics.host().isEmpty()) return null;
    var key = metrics.key();
    var keys =
        key == null ? ApiKeys.NONE : new ApiKeys(List.of(ApiKey.of("metrics", key.reveal())));
    return new HttpSettings(
        metrics.host(), metrics.port(), HttpLimits.DEFAULT, keys, tls(), names, restart.port());
  }
}
