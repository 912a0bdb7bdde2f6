package dev.kvasir.live.http;

import io.vertx.core.http.HttpMethod;

/**
 * One thing a server can be asked for.
 *
 * @param path the whole path as it stands in the request; nothing in it is decoded or matched
 */
public record Endpoint(HttpMethod method, String path, Access access, Handler handler) {
  /** Answers requests, now or later, on the loop of their connection. */
  @FunctionalInterface
  public interface Handler {
    /** The body of the request has been read; may throw {@link Refused}. */
    void handle(Exchange exchange);
  }

  public Endpoint {
    if (!path.startsWith("/")) throw new IllegalArgumentException("path \"" + path + "\"");
  }

  public static Endpoint get(String path, Access access, Handler handler) {
    return new Endpoint(HttpMethod.GET, path, access, handler);
  }

  public static Endpoint post(String path, Access access, Handler handler) {
    return new Endpoint(HttpMethod.POST, path, access, handler);
  }

  boolean hasBody() {
    return method.equals(HttpMethod.POST) || method.equals(HttpMethod.PUT);
  }

  @Override
  public String toString() {
    return method + " " + path + " " + access;
  }
}
