package dev.kvasir.cli.serve;

import dev.kvasir.engine.EngineSettings;
import dev.kvasir.live.http.Json;
import dev.kvasir.live.model.ModelShape;
import dev.kvasir.router.view.Role;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.SequencedMap;

/** The first line of a capture: how the cluster was set, in options of {@code simulate}. */
final class CaptureHead {
  private final SequencedMap<String, String> options = new LinkedHashMap<>();

  /**
   * How a simulator is set to these settings.
   *
   * @param contextTokens what a conversation may have with engines of our own; 0 for others
   * @param bytesPerToken what the K and V of a token take there; 0 for others
   */
  CaptureHead(
      ServeSettings settings, List<WorkerSettings> workers, int contextTokens, long bytesPerToken) {
    put("instances", count(workers, Role.BOTH));
    put("prefill-instances", count(workers, Role.PREFILL));
    put("decode-instances", count(workers, Role.DECODE));
    var routing = settings.routing();
    options.put("routing", routing.policy());
    options.put("placement", routing.placement());
    put("warm-tokens", routing.classes(contextTokens).warmTokensMax());
    put("heavy-tokens", routing.classes(contextTokens).heavyTokensMin());
    options.put("ties", "first");
    put("snapshot-refresh-interval", routing.probePace().toNanos() / 1_000);
    if (bytesPerToken > 0) put("kv-bytes-per-token", bytesPerToken);
    if (settings.isEmbedded()) engines(settings, contextTokens);
  }

  private void engines(ServeSettings settings, int contextTokens) {
    var tiers = settings.tiers();
    put("total-kv-blocks", settings.engines().deviceBlocks());
    put("block-size", ModelShape.BLOCK_TOKENS);
    put("kv-cpu-blocks", tiers.host().blocks());
    put("kv-disk-blocks", tiers.hasDisk() ? tiers.disk().blocks() : 0);
    options.put("shared-tiers", "true");
    options.put("take-turns", "true");
    put("max-num-seqs", EngineSettings.DEFAULT.sequencesMax());
    put("max-num-batched-tokens", EmbeddedSettings.STEP_TOKENS_MAX);
    put("max-model-len", contextTokens);
    options.put("planning", settings.engines().planning().name().toLowerCase(Locale.ROOT));
  }

  private static long count(List<WorkerSettings> workers, Role role) {
    return workers.stream().filter(worker -> worker.role() == role).count();
  }

  private void put(String name, long value) {
    options.put(name, Long.toString(value));
  }

  String line() {
    var line = Json.object().put("schema", "kvasir.settings.v1");
    var settings = line.putObject("settings");
    options.forEach(settings::put);
    return line.toString();
  }
}
