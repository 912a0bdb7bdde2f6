package dev.kvasir.net.openai;

import dev.kvasir.Nullable;
import dev.kvasir.net.Json;
import dev.kvasir.net.Refused;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Tokens that an answer took, as servers count them and clients are told; -1 for what was not said.
 *
 * @param cachedTokens tokens of the prompt that did not have to be computed
 */
public record Usage(int promptTokens, int outputTokens, int cachedTokens) {
  public static final Usage UNKNOWN = new Usage(-1, -1, -1);

  /** No model has a context of as many; who says more is not believed, since keys pay for it. */
  private static final int TOKENS_MAX = 1 << 24;

  public boolean isUnknown() {
    return equals(UNKNOWN);
  }

  /** From an answer, or the event of one; unknown where it says nothing that can be read. */
  public static Usage of(byte @Nullable [] json) {
    if (json == null) return UNKNOWN;
    try {
      var answer = Json.read(json);
      for (var holder : new String[] {"message", "response"}) {
        if (answer.path(holder).path("usage").isObject()) answer = answer.path(holder);
      }
      return of(answer.path("usage"));
    } catch (Refused e) {
      return UNKNOWN;
    }
  }

  /** From the object of that name in an answer. */
  public static Usage of(JsonNode usage) {
    return usage.has("input_tokens") ? ofInput(usage) : ofPrompt(usage);
  }

  private static Usage ofPrompt(JsonNode usage) {
    return new Usage(
        tokens(usage.path("prompt_tokens")),
        tokens(usage.path("completion_tokens")),
        tokens(usage.path("prompt_tokens_details").path("cached_tokens")));
  }

  /**
   * As {@code /v1/responses} tells it, and {@code /v1/messages}, where input is what was not
   * cached.
   */
  private static Usage ofInput(JsonNode usage) {
    int input = tokens(usage.path("input_tokens"));
    int output = tokens(usage.path("output_tokens"));
    if (usage.has("input_tokens_details")) {
      return new Usage(
          input, output, tokens(usage.path("input_tokens_details").path("cached_tokens")));
    }
    int cached = tokens(usage.path("cache_read_input_tokens"));
    int created = tokens(usage.path("cache_creation_input_tokens"));
    int prompt = input < 0 ? -1 : input + Math.max(0, cached) + Math.max(0, created);
    return new Usage(prompt, output, cached);
  }

  private static int tokens(JsonNode node) {
    int tokens = node.asInt(-1);
    return tokens >= 0 && tokens <= TOKENS_MAX ? tokens : -1;
  }

  /**
   * Returns what the second leg of a split request tells, when what the first had computed for it
   * is not taken for cached.
   */
  public Usage after(Usage prefill) {
    boolean known = promptTokens >= 0 && cachedTokens >= 0 && prefill.cachedTokens >= 0;
    int cached = known ? Math.max(0, prefill.cachedTokens + cachedTokens - promptTokens) : -1;
    return new Usage(promptTokens, outputTokens, cached);
  }

  public ObjectNode json() {
    var usage = Json.object();
    usage.put("prompt_tokens", promptTokens);
    usage.put("completion_tokens", outputTokens);
    usage.put("total_tokens", promptTokens + outputTokens);
    usage.set("prompt_tokens_details", Json.object().put("cached_tokens", cachedTokens));
    return usage;
  }
}
