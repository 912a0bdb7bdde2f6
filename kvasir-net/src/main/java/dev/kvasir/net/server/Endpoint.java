package dev.kvasir.net.server;

import dev.kvasir.net.Refused;
import dev.kvasir.net.auth.Access;
import io.vertx.core.http.HttpMethod;

/**
 * One thing a server can be asked for.
 *
 * @param path the whole path as it stands in the request, where nothing is decoded; one that ends
 *     in a slash stands for all with one more segment, one that ends in {@link #ANY} for all below
 * @param content what a request has to bring
 */
public record Endpoint(
    HttpMethod method, String path, Access access, Content content, Handler handler) {
  /** Behind the folder of a path, stands for everything below it, slashes included. */
  public static final String ANY = "/*";

  /** The kind of body that a request has. */
  public enum Content {
    NONE,
    JSON,
    /** A form with files, as browsers send it. */
    FORM
  }

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
    return new Endpoint(HttpMethod.GET, path, access, Content.NONE, handler);
  }

  public static Endpoint post(String path, Access access, Handler handler) {
    return new Endpoint(HttpMethod.POST, path, access, Content.JSON, handler);
  }

  public static Endpoint postForm(String path, Access access, Handler handler) {
    return new Endpoint(HttpMethod.POST, path, access, Content.FORM, handler);
  }

  public static Endpoint delete(String path, Access access, Handler handler) {
    return new Endpoint(HttpMethod.DELETE, path, access, Content.NONE, handler);
  }

  boolean hasBody() {
    return content != Content.NONE;
  }

  @Override
  public String toString() {
    return method + " " + path + " " + access;
  }
}
