package dev.kvasir.live.gateway.journal;

import dev.kvasir.Nullable;
import dev.kvasir.live.http.Json;
import dev.kvasir.live.http.Refused;

/**
 * What a worker says it computed for a request; -1 for what it did not say.
 *
 * @param cachedTokens of the prompt, which did not have to be computed
 */
public record Usage(int promptTokens, int outputTokens, int cachedTokens) {
  public static final Usage UNKNOWN = new Usage(-1, -1, -1);

  public boolean isUnknown() {
    return equals(UNKNOWN);
  }

  /** From an answer, or the event of one; unknown where it says nothing that can be read. */
  public static Usage of(byte @Nullable [] json) {
    if (json == null) return UNKNOWN;
    try {
      var usage = Json.read(json).path("usage");
      return new Usage(
          usage.path("prompt_tokens").asInt(-1),
          usage.path("completion_tokens").asInt(-1),
          usage.path("prompt_tokens_details").path("cached_tokens").asInt(-1));
    } catch (Refused e) {
      return UNKNOWN;
    }
  }

  /**
   * What the second leg of a split request tells, when what the first had computed for it is not
   * taken for cached.
   */
  public Usage after(Usage prefill) {
    boolean known = promptTokens >= 0 && cachedTokens >= 0 && prefill.cachedTokens >= 0;
    int cached = known ? Math.max(0, prefill.cachedTokens + cachedTokens - promptTokens) : -1;
    return new Usage(promptTokens, outputTokens, cached);
  }
}
