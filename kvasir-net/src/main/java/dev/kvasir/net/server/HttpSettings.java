package dev.kvasir.net.server;

import dev.kvasir.Nullable;
import dev.kvasir.net.auth.ApiKeys;
import dev.kvasir.net.auth.HostCheck;
import io.vertx.core.net.KeyCertOptions;
import io.vertx.core.net.PemKeyCertOptions;
import java.util.List;

/**
 * Settings of a server: where it listens, and what it takes.
 *
 * @param port 0 for any that is free
 * @param tls null for none
 * @param names under which it is reached besides its host; with none of them, and listening to more
 *     than this machine, under any
 * @param sharing whether another process may listen on the same port
 */
public record HttpSettings(
    String host,
    int port,
    HttpLimits limits,
    ApiKeys keys,
    @Nullable Tls tls,
    List<String> names,
    Sharing sharing) {
  public static final String LOOPBACK = "127.0.0.1";

  private static final int PORT_MAX = 65_535;

  /** The certificate of a server and its key, as files in PEM. */
  public record Tls(String certificateFile, String keyFile) {
    public KeyCertOptions files() {
      return new PemKeyCertOptions().setCertPath(certificateFile).setKeyPath(keyFile);
    }
  }

  /** Choice of who listens on a port. */
  public enum Sharing {
    /** This process alone. */
    ALONE,
    /** All processes that ask for it like this: the kernel gives each connection to one of them. */
    SHARED
  }

  public HttpSettings {
    names = List.copyOf(names);
    if (host.isBlank()) throw new IllegalArgumentException("a server needs a host to listen on");
    if (port < 0 || port > PORT_MAX) {
      throw new IllegalArgumentException("port " + port + ", expected 0 to " + PORT_MAX);
    }
  }

  /** A server for this machine alone. */
  public static HttpSettings local(int port) {
    return new HttpSettings(
        LOOPBACK, port, HttpLimits.DEFAULT, ApiKeys.NONE, null, List.of(), Sharing.ALONE);
  }

  public HttpSettings with(HttpLimits others) {
    return new HttpSettings(host, port, others, keys, tls, names, sharing);
  }

  public HttpSettings with(ApiKeys others) {
    return new HttpSettings(host, port, limits, others, tls, names, sharing);
  }

  public HttpSettings with(Tls other) {
    return new HttpSettings(host, port, limits, keys, other, names, sharing);
  }

  /** These, but for another address. */
  public HttpSettings at(String otherHost, int otherPort) {
    return new HttpSettings(otherHost, otherPort, limits, keys, tls, names, sharing);
  }

  /** These, but for the names under which it is reached besides. */
  public HttpSettings named(List<String> others) {
    return new HttpSettings(host, port, limits, keys, tls, others, sharing);
  }

  /** These, but for who else may listen on the port. */
  public HttpSettings with(Sharing other) {
    return new HttpSettings(host, port, limits, keys, tls, names, other);
  }

  /** Returns whether only this machine can reach it. */
  public boolean isLoopback() {
    return HostCheck.isLoopback(host);
  }
}
