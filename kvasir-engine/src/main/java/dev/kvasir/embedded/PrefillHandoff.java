package dev.kvasir.embedded;

import dev.kvasir.Nullable;
import dev.kvasir.embedded.step.Generation;
import dev.kvasir.model.ModelShape;
import dev.kvasir.net.Json;
import java.time.Duration;
import java.util.function.Consumer;
import tools.jackson.databind.JsonNode;

/** Waits until another engine can load the blocks of a prefill. Belongs to their loop. */
final class PrefillHandoff {
  private static final Duration LOOK_INTERVAL = Duration.ofMillis(1);
  private static final Duration PATIENCE = Duration.ofSeconds(2);

  private final EmbeddedEngine engine;

  PrefillHandoff(EmbeddedEngine engine) {
    this.engine = engine;
  }

  /**
   * Calls {@code then} when all full blocks of the prompt lie where others find them, or when they
   * have not come there for too long: then with null, and others compute what is missing.
   */
  void await(Generation generation, Consumer<@Nullable JsonNode> then) {
    look(generation, engine.loop().nanos() + PATIENCE.toNanos(), then);
  }

  private void look(Generation generation, long latestNanos, Consumer<@Nullable JsonNode> then) {
    if (isShared(generation)) {
      then.accept(parameters(generation));
    } else if (engine.loop().nanos() > latestNanos) {
      then.accept(null);
    } else {
      engine.loop().after(LOOK_INTERVAL, () -> look(generation, latestNanos, then));
    }
  }

  private boolean isShared(Generation generation) {
    var shared = engine.shared();
    if (shared == null) return false;
    for (int i = blocks(generation) - 1; i >= 0; i--) {
      if (!shared.has(generation.name(i))) return false;
    }
    return true;
  }

  private static int blocks(Generation generation) {
    return generation.request().prompt().length / ModelShape.BLOCK_TOKENS;
  }

  /** Returns what the worker that goes on is told, in the words of vLLM. */
  private JsonNode parameters(Generation generation) {
    var parameters =
        Json.object()
            .put("do_remote_prefill", true)
            .put("do_remote_decode", false)
            .put("remote_engine_id", engine.name())
            .put("remote_request_id", generation.request().id())
            .put("remote_num_tokens", blocks(generation) * ModelShape.BLOCK_TOKENS);
    parameters.set("remote_block_ids", Json.array());
    return parameters;
  }
}
