package dev.kvasir.cli.settings;

import dev.kvasir.Nullable;
import dev.kvasir.gateway.worker.Connector;
import dev.kvasir.gateway.worker.Worker;
import dev.kvasir.router.view.Role;
import dev.kvasir.spec.Written;

/**
 * The settings of a worker, with the addresses of its KV events and its tier.
 *
 * @param url scheme, host and port
 * @param name by which people know it; empty for host and port
 * @param bootstrap where others fetch from it, as host:port; empty where they need not
 * @param events where it tells its KV events, as tcp://host:port; empty where it does not
 * @param replay where it repeats them; empty where it does not
 * @param rank which data-parallel engine of the server; empty where it has one
 * @param tier where the tier daemon below it tells what it holds; empty where none does
 * @param tierReplay where that repeats it; empty where it does not
 */
public record WorkerSettings(
    String url,
    String name,
    Role role,
    Connector connector,
    String bootstrap,
    String events,
    String replay,
    String rank,
    String tier,
    String tierReplay) {
  /** The defaults of a worker; the url is missing, which every worker needs. */
  public static final WorkerSettings DEFAULT =
      new WorkerSettings("", "", Role.BOTH, Connector.NONE, "", "", "", "", "", "");

  private static final int PORT_MAX = 65_535;
  private static final String ZMQ = "tcp://([^:]+|\\[[0-9A-Fa-f:]+\\]):\\d+";

  public WorkerSettings {
    boolean bare = url.isEmpty() && name.isEmpty() && events.isEmpty() && replay.isEmpty();
    if (url.isEmpty() && !bare) throw new IllegalArgumentException("a worker without url");
    for (var address : new String[] {events, replay, tier, tierReplay}) {
      if (!address.isEmpty() && !(address.matches(ZMQ) && hasPort(address))) {
        throw new IllegalArgumentException(
            "'" + address + "', expected tcp://HOST:PORT with a port from 1 to 65535");
      }
    }
    if (!rank.matches("\\d{0,4}")) {
      throw new IllegalArgumentException("rank '" + rank + "', expected a number from 0 to 9999");
    }
    if (!tier.isEmpty() && events.isEmpty()) {
      throw new IllegalArgumentException(
          "tier '"
              + tier
              + "' without events: a tier reports hashes, and only KV events report tokens");
    }
    if (!bare) made(url, name, role, connector, bootstrap);
  }

  private static boolean hasPort(String address) {
    var digits = address.substring(address.lastIndexOf(':') + 1);
    if (digits.length() > 5) return false;
    int port = Integer.parseInt(digits);
    return port > 0 && port <= PORT_MAX;
  }

  private static Worker made(
      String url, String name, Role role, Connector connector, String bootstrap) {
    var worker = Worker.of(url).in(role).by(connector, bootstrap);
    return name.isEmpty() ? worker : worker.named(name);
  }

  public Worker worker() {
    var worker = made(url, name, role, connector, bootstrap);
    return rank.isEmpty() ? worker : worker.ranked(Integer.parseInt(rank));
  }

  /** Reads {@code URL[,key=value …]} as one would have written it in a file. */
  public static Written.Keys written(String text, Written.Origin origin) {
    var parts = text.split(",", -1);
    var keys = Written.Keys.none(origin).with("url", new Written.Text(parts[0], origin));
    for (int i = 1; i < parts.length; i++) {
      int at = parts[i].indexOf('=');
      if (at < 1) {
        throw new IllegalArgumentException(
            "worker \"%s\": \"%s\" is not key=value".formatted(text, parts[i]));
      }
      var value = new Written.Text(parts[i].substring(at + 1), origin);
      keys = keys.with(parts[i].substring(0, at), value);
    }
    return keys;
  }

  /** Returns where it repeats its KV events, or null if it does not. */
  public @Nullable String replayIfAny() {
    return replay.isEmpty() ? null : replay;
  }
}
