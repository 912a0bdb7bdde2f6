package dev.kvasir.cli.serve;

import dev.kvasir.Nullable;
import dev.kvasir.live.gateway.Connector;
import dev.kvasir.live.gateway.Worker;
import dev.kvasir.router.Role;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A worker as it is written on the command line: its URL, and what else is known of it.
 *
 * @param events where it tells its KV events; null where it does not
 * @param replay where it repeats them; null where it does not
 */
record WorkerText(Worker worker, @Nullable String events, @Nullable String replay) {
  private static final List<String> KEYS =
      List.of("name", "role", "connector", "bootstrap", "events", "replay");

  /** Reads {@code URL[,key=value …]}. */
  static WorkerText of(String text) {
    var parts = text.split(",", -1);
    var values = new LinkedHashMap<String, String>();
    for (int i = 1; i < parts.length; i++) {
      int at = parts[i].indexOf('=');
      var key = at < 0 ? parts[i] : parts[i].substring(0, at);
      if (at < 0 || !KEYS.contains(key)) {
        throw new IllegalArgumentException(
            "worker \"%s\": \"%s\" is none of %s=…"
                .formatted(text, parts[i], String.join("=…, ", KEYS)));
      }
      values.put(key, parts[i].substring(at + 1));
    }
    return new WorkerText(worker(parts[0], values), values.get("events"), values.get("replay"));
  }

  private static Worker worker(String url, Map<String, String> values) {
    var worker = Worker.of(url);
    if (values.containsKey("name")) worker = worker.named(values.getOrDefault("name", ""));
    var role = choice("role", values.getOrDefault("role", "both"), Role.values());
    var connector =
        choice("connector", values.getOrDefault("connector", "none"), Connector.values());
    return worker.in(role).by(connector, values.getOrDefault("bootstrap", ""));
  }

  private static <E extends Enum<E>> E choice(String key, String text, E[] values) {
    for (var value : values) {
      if (value.name().equalsIgnoreCase(text)) return value;
    }
    var names = Arrays.stream(values).map(value -> value.name().toLowerCase(Locale.ROOT)).toList();
    throw new IllegalArgumentException(
        "a worker's %s is \"%s\", expected one of %s".formatted(key, text, names));
  }
}
