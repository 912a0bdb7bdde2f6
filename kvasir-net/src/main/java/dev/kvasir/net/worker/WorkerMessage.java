package dev.kvasir.net.worker;

import dev.kvasir.Nullable;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;

/**
 * Message that is sent to a worker.
 *
 * @param prompt known tokens and names of its prompt, for engines of this process; null where there
 *     are none
 */
public record WorkerMessage(
    HttpMethod method, String path, MultiMap headers, Buffer body, @Nullable NamedTokens prompt) {
  private static WorkerMessage of(HttpMethod method, String path) {
    return new WorkerMessage(
        method, path, MultiMap.caseInsensitiveMultiMap(), Buffer.buffer(), null);
  }

  public static WorkerMessage get(String path) {
    return of(HttpMethod.GET, path);
  }

  public static WorkerMessage delete(String path) {
    return of(HttpMethod.DELETE, path);
  }

  public static WorkerMessage post(String path, MultiMap headers, Buffer body) {
    return new WorkerMessage(HttpMethod.POST, path, headers, body, null);
  }

  /** The same one, of whose prompt that is known. */
  public WorkerMessage with(@Nullable NamedTokens known) {
    return new WorkerMessage(method, path, headers, body, known);
  }
}
