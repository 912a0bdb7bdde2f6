package dev.kvasir.gateway.worker;

import dev.kvasir.router.view.Instance;
import dev.kvasir.router.view.Role;
import java.net.URI;
import java.util.Locale;

/**
 * A server that requests are sent to, as it is configured, or an engine of this process.
 *
 * @param name by which people know it
 * @param url scheme, host and port, nothing else; {@code embedded:NAME} for an engine
 * @param bootstrap where the others learn how to fetch from it, as host:port; empty if they need
 *     not
 * @param blocks how many blocks its cache has, as long as it does not tell
 * @param rank which of the engines behind the URL, where each has a cache of its own; -1 for the
 *     only one
 */
public record Worker(
    String name, URI url, Role role, Connector connector, String bootstrap, int blocks, int rank) {
  public static final int NO_RANK = -1;

  private static final int PORT_MAX = 65_535;
  private static final String EMBEDDED = "embedded";

  public Worker {
    if (name.isBlank()) throw new IllegalArgumentException("a worker needs a name");
    if (!EMBEDDED.equals(url.getScheme())) requireServer(url);
    boolean needsBootstrap = connector == Connector.MOONCAKE || connector == Connector.SGLANG;
    if (needsBootstrap && role != Role.DECODE && !bootstrap.matches("[^:]+:\\d+")) {
      throw new IllegalArgumentException(
          name + " hands over by " + connector.label() + ": say where it bootstraps, as HOST:PORT");
    }
    int colon = bootstrap.lastIndexOf(':');
    if (colon >= 0) requirePort(bootstrap, port(bootstrap.substring(colon + 1)));
  }

  private static void requireServer(URI url) {
    if (url.getRawUserInfo() != null) {
      throw new IllegalArgumentException(
          "a worker's URL has a user or a password in it, which logs and metrics would show:"
              + " leave it out, and give what workers are sent as routing.worker-key");
    }
    var scheme = String.valueOf(url.getScheme()).toLowerCase(Locale.ROOT);
    boolean plain = url.getPath() == null || url.getPath().isEmpty() || url.getPath().equals("/");
    plain &= url.getRawQuery() == null && url.getRawFragment() == null;
    if (!(scheme.equals("http") || scheme.equals("https")) || url.getHost() == null || !plain) {
      throw new IllegalArgumentException(
          "\"" + url + "\" is not the URL of a worker; give it as http://HOST:PORT");
    }
    requirePort(url.toString(), url.getPort() < 0 ? PORT_MAX : url.getPort());
  }

  /** Below zero where it is none. */
  private static int port(String text) {
    return text.matches("\\d{1,5}") ? Integer.parseInt(text) : -1;
  }

  private static void requirePort(String where, int port) {
    if (port < 1 || port > PORT_MAX) {
      throw new IllegalArgumentException(
          "\"%s\" has port %d, expected 1 to %d".formatted(where, port, PORT_MAX));
    }
  }

  /** An engine of this process. */
  public static Worker embedded(String name) {
    var url = URI.create(EMBEDDED + ":" + name);
    return new Worker(name, url, Role.BOTH, Connector.NONE, "", Instance.BLOCKS_DEFAULT, NO_RANK);
  }

  public boolean isEmbedded() {
    return url.getScheme().equals(EMBEDDED);
  }

  /** A server that prefills and decodes by itself. */
  public static Worker of(String url) {
    var uri = URI.create(url);
    requireServer(uri);
    return new Worker(
        uri.getAuthority() == null ? url : uri.getAuthority(),
        uri,
        Role.BOTH,
        Connector.NONE,
        "",
        Instance.BLOCKS_DEFAULT,
        NO_RANK);
  }

  public Worker named(String other) {
    return new Worker(other, url, role, connector, bootstrap, blocks, rank);
  }

  public Worker by(Connector other, String where) {
    return new Worker(name, url, role, other, where, blocks, rank);
  }

  public Worker in(Role other) {
    return new Worker(name, url, other, connector, bootstrap, blocks, rank);
  }

  /** One of several engines that a server runs data-parallel, each with a cache of its own. */
  public Worker ranked(int other) {
    return new Worker(name + "#" + other, url, role, connector, bootstrap, blocks, other);
  }

  String host() {
    return url.getHost();
  }

  public int port() {
    if (url.getPort() > 0) return url.getPort();
    return isSecure() ? 443 : 80;
  }

  boolean isSecure() {
    return url.getScheme().equalsIgnoreCase("https");
  }

  Instance instance() {
    return new Instance(name, role, connector.label(), blocks);
  }
}
