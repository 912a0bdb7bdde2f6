package dev.kvasir.live.gateway;

import io.vertx.core.Context;
import io.vertx.core.Future;

/** Knows the tokens of a prompt; answers within a bounded time, or fails. */
@FunctionalInterface
public interface PromptTokenizer {
  /**
   * The tokens.
   *
   * @param path where the request was sent, which says how its prompt is made
   * @param fields its whole body
   */
  Future<int[]> tokens(Context context, String path, byte[] fields);
}
