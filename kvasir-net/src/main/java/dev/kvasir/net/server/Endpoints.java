package dev.kvasir.net.server;

import dev.kvasir.Nullable;
import dev.kvasir.net.ApiError;
import dev.kvasir.net.Refused;
import io.vertx.core.http.HttpMethod;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** All that a server can be asked for; whatever is not in it is refused. */
public final class Endpoints {
  private final List<Endpoint> all;
  private final Map<String, Map<String, Endpoint>> byPath = new LinkedHashMap<>();

  /** Those of them that stand for all below a folder. */
  private final List<String> below = new ArrayList<>();

  private Endpoints(List<Endpoint> all) {
    this.all = List.copyOf(all);
    for (var endpoint : all) {
      var methods = byPath.computeIfAbsent(endpoint.path(), _ -> new TreeMap<>());
      if (endpoint.path().endsWith(Endpoint.ANY)) below.add(endpoint.path());
      if (methods.put(endpoint.method().name(), endpoint) != null) {
        throw new IllegalArgumentException(endpoint + " is there twice");
      }
    }
  }

  public static Endpoints of(List<Endpoint> all) {
    return new Endpoints(all);
  }

  public static Endpoints of(Endpoint... all) {
    return new Endpoints(List.of(all));
  }

  public List<Endpoint> all() {
    return all;
  }

  private @Nullable Map<String, Endpoint> methods(String path) {
    int segment = path.lastIndexOf('/') + 1;
    if (segment <= 1) return byPath.get(path);
    // What is named by its folder has a segment of its own.
    if (segment == path.length()) return null;
    var exact = byPath.get(path);
    if (exact == null) exact = byPath.get(path.substring(0, segment));
    return exact != null ? exact : below(path);
  }

  /** The entry for all below a folder of the path; null where there is none. */
  private @Nullable Map<String, Endpoint> below(String path) {
    for (var each : below) {
      if (path.startsWith(each.substring(0, each.length() - 1))) return byPath.get(each);
    }
    return null;
  }

  /** The endpoint for the request; throws {@link Refused} where there is none. */
  Endpoint find(HttpMethod method, @Nullable String path) {
    var methods = path == null ? null : methods(path);
    if (methods == null) throw new Refused(ApiError.unknownPath());
    var endpoint = methods.get(method.name());
    if (endpoint == null) {
      throw new Refused(ApiError.wrongMethod(String.join(", ", methods.keySet())));
    }
    return endpoint;
  }
}
