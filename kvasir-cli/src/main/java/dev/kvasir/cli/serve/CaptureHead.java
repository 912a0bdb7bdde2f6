package dev.kvasir.cli.serve;

import dev.kvasir.Nullable;
import dev.kvasir.cli.config.KeyPaths;
import dev.kvasir.cli.settings.Deployment;
import dev.kvasir.cli.settings.TierList;
import dev.kvasir.gateway.worker.Connector;
import dev.kvasir.gateway.worker.Worker;
import dev.kvasir.net.Json;
import dev.kvasir.router.turn.TurnRules;
import dev.kvasir.router.view.Role;
import dev.kvasir.tools.doctor.ReportedKvMemory;
import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/**
 * The first line of a capture: the settings of its deployment, as in {@code kvasir.yaml}.
 *
 * <p>It holds what a simulation needs, and no address, no file name and no secret.
 */
final class CaptureHead {
  private static final List<String> SECTIONS =
      List.of("routing.", "limits.", "engines.", "hardware.", "simulation.", "slo.", "cost.");

  /** It names folders. */
  private static final String TOKENIZER = "routing.tokenizer";

  private static final List<String> TIER_KEYS = List.of("blocks", "size", "link", "latency");

  private final ObjectNode line = Json.object().put("schema", "kvasir.deployment.v1");
  private final ObjectNode deployment = line.putObject("deployment");

  /**
   * The head for these settings.
   *
   * @param contextTokens what a conversation may have with embedded engines; 0 for others
   * @param bytesPerToken what the K and V of a token take there; 0 for others
   */
  CaptureHead(Deployment settings, List<Worker> workers, int contextTokens, long bytesPerToken) {
    for (var key : KeyPaths.of(settings)) {
      boolean isPrivate =
          key.kind().equals("secret") || key.kind().equals("file") || key.path().equals(TOKENIZER);
      boolean isIncluded = SECTIONS.stream().anyMatch(key.path()::startsWith);
      boolean isOne = !key.isOfList() && !key.usual().isEmpty();
      if (isIncluded && !isPrivate && isOne) put(key.path(), key.usual());
    }
    for (var rule : settings.limits().queue().turns().classes()) put(rule);
    put("engines.count", count(workers, Role.BOTH));
    put("engines.prefill", count(workers, Role.PREFILL));
    put("engines.decode", count(workers, Role.DECODE));
    var classes = settings.routing().classes(contextTokens);
    put("routing.warm-tokens-max", Integer.toString(classes.warmTokensMax()));
    put("routing.heavy-tokens-min", Integer.toString(classes.heavyTokensMin()));
    if (workers.stream().allMatch(each -> each.connector() == Connector.NONE)) {
      put("routing.placement", "never");
    }
    if (bytesPerToken > 0) put("hardware.kv-bytes-per-token", Long.toString(bytesPerToken));
    if (settings.isEmbedded()) {
      deployment.withArray("tiers");
      put("engines.total-kv-blocks", Integer.toString(settings.engines().embeddedBlocks()));
      put("engines.context-tokens-max", Integer.toString(contextTokens));
      for (var tier : settings.tiers().entries()) put(tier);
    } else {
      put("hardware.gpu", settings.hardware().gpuOrDefault());
    }
  }

  private void put(TurnRules.ClassRule rule) {
    var turns = deployment.withObjectProperty("limits").withObjectProperty("queue");
    var entry = turns.withObjectProperty("turns").withArray("classes").addObject();
    for (var key : KeyPaths.of(rule)) entry.put(key.path(), key.usual());
  }

  private void put(TierList.Entry tier) {
    var entry = deployment.withArray("tiers").addObject().put("kind", tier.kind().word());
    var keys = KeyPaths.of("", tier.values());
    keys.addAll(KeyPaths.of("", tier.facts()));
    for (var key : keys) {
      if (TIER_KEYS.contains(key.path()) && !key.usual().isEmpty()) {
        entry.put(key.path(), key.usual());
      }
    }
  }

  private static String count(List<Worker> workers, Role role) {
    return Long.toString(workers.stream().filter(worker -> worker.role() == role).count());
  }

  private void put(String path, String value) {
    var names = path.split("\\.", -1);
    var at = deployment;
    for (int i = 0; i < names.length - 1; i++) at = at.withObjectProperty(names[i]);
    at.put(names[names.length - 1], value);
  }

  /**
   * The line.
   *
   * @param memory what each worker has; null where that is not known
   */
  String line(@Nullable ReportedKvMemory memory) {
    if (memory != null) {
      put("engines.total-kv-blocks", Integer.toString(memory.blocks()));
      put("engines.block-size", Integer.toString(memory.blockTokens()));
    }
    return line.toString();
  }
}
