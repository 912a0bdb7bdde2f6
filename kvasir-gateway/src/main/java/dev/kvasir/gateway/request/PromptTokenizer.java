package dev.kvasir.gateway.request;

import dev.kvasir.kv.name.BlockHasher;
import dev.kvasir.net.metrics.MetricsText;
import io.vertx.core.Context;
import io.vertx.core.Future;
import java.util.Collection;

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

  /** As the other one, for a body that has been read already. */
  default Future<int[]> tokens(Context context, String path, RequestFields fields) {
    return tokens(context, path, fields.body());
  }

  /**
   * Returns what names the blocks of a prompt, as the KV events of workers name them.
   *
   * @param model the model as {@link dev.kvasir.gateway.worker.ModelNames} has it
   * @param salt the salt as it reaches the worker; empty for none
   */
  default BlockHasher hasher(String model, String salt) {
    return BlockNamer.hasher(model, salt);
  }

  /** Workers are ready that serve these models: the first request should not wait for more. */
  default void prepare(Context context, Collection<String> models) {
    // Most need nothing.
  }

  /**
   * Returns whether a worker answered that it has no tokens for the request, however often it is
   * asked.
   */
  static boolean isRefusal(Throwable failure) {
    return failure instanceof PromptNaming.NoTokens missing
        && missing.used() == PromptNaming.Used.REFUSED;
  }

  /** Adds what it has counted to the metrics. */
  default void write(MetricsText out) {
    // Most count nothing.
  }
}
