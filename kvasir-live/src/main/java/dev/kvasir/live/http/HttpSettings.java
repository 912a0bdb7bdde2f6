package dev.kvasir.live.http;

import dev.kvasir.Nullable;
import java.util.List;

/**
 * Where a server listens, and what it takes.
 *
 * @param port 0 for any that is free
 * @param tls null for none
 * @param names under which it is reached besides its host; with none of them, and listening to more
 *     than this machine, under any
 */
public record HttpSettings(
    String host, int port, HttpLimits limits, ApiKeys keys, @Nullable Tls tls, List<String> names) {
  public static final String LOOPBACK = "127.0.0.1";

  private static final int PORT_MAX = 65_535;

  /** The certificate of a server and its key, as files in PEM. */
  public record Tls(String certificateFile, String keyFile) {}

  public HttpSettings {
    names = List.copyOf(names);
    if (host.isBlank()) throw new IllegalArgumentException("a server needs a host to listen on");
    if (port < 0 || port > PORT_MAX) {
      throw new IllegalArgumentException("port " + port + ", expected 0 to " + PORT_MAX);
    }
  }

  /** A server for this machine alone. */
  public static HttpSettings local(int port) {
    return new HttpSettings(LOOPBACK, port, HttpLimits.DEFAULT, ApiKeys.NONE, null, List.of());
  }

  public HttpSettings with(HttpLimits others) {
    return new HttpSettings(host, port, others, keys, tls, names);
  }

  public HttpSettings with(ApiKeys others) {
    return new HttpSettings(host, port, limits, others, tls, names);
  }

  public HttpSettings with(Tls other) {
    return new HttpSettings(host, port, limits, keys, other, names);
  }

  /** These, but for another address. */
  public HttpSettings at(String otherHost, int otherPort) {
    return new HttpSettings(otherHost, otherPort, limits, keys, tls, names);
  }

  /** These, but for the names under which it is reached besides. */
  public HttpSettings named(List<String> others) {
    return new HttpSettings(host, port, limits, keys, tls, others);
  }

  /** Whether only this machine can reach it. */
  public boolean isLoopback() {
    return HostCheck.isLoopback(host);
  }
}
