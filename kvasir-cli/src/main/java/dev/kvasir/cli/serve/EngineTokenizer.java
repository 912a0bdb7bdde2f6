package dev.kvasir.cli.serve;

import dev.kvasir.embedded.EngineGroup;
import dev.kvasir.embedded.PromptTokens;
import dev.kvasir.gateway.request.PromptTokenizer;
import dev.kvasir.kv.name.BlockHasher;
import dev.kvasir.net.Network;
import io.vertx.core.Context;
import io.vertx.core.Future;

/** Tokenises and names prompts as the embedded engines do, for the gateway in front of them. */
final class EngineTokenizer implements PromptTokenizer {
  private final EngineGroup engines;
  private final PromptTokens prompts;

  EngineTokenizer(EngineGroup engines, Network network) {
    this.engines = engines;
    this.prompts = engines.prompts(network);
  }

  @Override
  public Future<int[]> tokens(Context context, String path, byte[] fields) {
    return prompts.of(path, fields);
  }

  @Override
  public BlockHasher hasher(String model, String salt) {
    return engines.hasher(salt);
  }
}
