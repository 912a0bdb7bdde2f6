package dev.kvasir.gateway.journal;

import dev.kvasir.Nullable;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.net.Json;
import dev.kvasir.net.openai.Usage;
import dev.kvasir.router.RouteRecord;
import dev.kvasir.router.view.SloClass;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/**
 * Writes requests as the simulator reads them: when they came, how long they were, which blocks of
 * their prompts others had, too. Nothing of their text, and nothing from which it could be guessed:
 * names are keyed with a secret that dies with the capture.
 */
final class CaptureLine {
  private static final long NANOS_PER_MICRO = 1_000;
  private static final int NAME_BYTES = Long.BYTES;

  private final NameKey secret = NameKey.random();
  private final long originMicros;
  private final int blockTokens;

  CaptureLine(long originMicros, int blockTokens) {
    this.originMicros = originMicros;
    this.blockTokens = blockTokens;
  }

  /** The line; null for a request that was not served to its end. */
  @Nullable
  String of(Decision decision) {
    var route = decision.route();
    var ending = decision.ending();
    if (route == null || ending.outcome() != Outcome.COMPLETE || ending.status() != 200)
      return null;
    var request = decision.request();
    // No engine computed anything for it.
    if (request.names().tokens() == 0) return null;
    var line = Json.object();
    line.put("schema", "kvasir.capture.v1");
    line.put("id", hash(request.id()));
    line.put("arrival_us", originMicros + request.receivedNanos() / NANOS_PER_MICRO);
    line.put("prompt_tokens", request.names().tokens());
    // Of a prompt that was named by its bytes the router knows no tokens; the worker does.
    int reported = ending.usage().promptTokens();
    if (reported > 0 && reported != request.names().tokens())
      line.put("told_prompt_tokens", reported);
    line.put("output_tokens", ending.outputTokens());
    if (request.names().isWhole(blockTokens) && !request.names().blocks().isEmpty()) {
      line.put("block_tokens", blockTokens);
      var blocks = line.putArray("blocks");
      for (var block : request.names().blocks()) blocks.add(name(block));
    }
    if (!request.session().isEmpty()) line.put("session", hash(request.session()));
    if (!request.caller().tenant().isEmpty()) line.put("tenant", hash(request.caller().tenant()));
    if (!request.model().isEmpty()) line.put("model", request.model());
    if (request.sloClass() != SloClass.STANDARD) line.put("class", request.sloClass().label());
    line.put("instance", decision.decode());
    if (!decision.prefill().isEmpty()) line.put("prefill", decision.prefill());
    // An answer that is no stream comes all at once: nobody saw its first token.
    if (decision.firstTokenSeconds() >= 0 && ending.events() > 0) {
      line.put("ttft_us", Math.round(decision.firstTokenSeconds() * 1e6));
    }
    line.put("e2e_us", Math.round(decision.seconds() * 1e6));
    line.put("cached_tokens", cachedTokens(route, ending.usage()));
    return line.toString();
  }

  /** By the worker's account, or else by what the router knew when it chose. */
  private static int cachedTokens(RouteRecord route, Usage usage) {
    int known = route.promptTokens() - route.uncachedTokens();
    return usage.cachedTokens() >= 0 ? usage.cachedTokens() : known;
  }

  private String name(BlockHash block) {
    return HexFormat.of().formatHex(secret.sign(block.bytes()), 0, NAME_BYTES);
  }

  private String hash(String text) {
    var bytes = text.getBytes(StandardCharsets.UTF_8);
    return HexFormat.of().formatHex(secret.sign(bytes), 0, NAME_BYTES);
  }
}
