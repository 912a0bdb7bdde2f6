package dev.kvasir.live.openai;

import dev.kvasir.live.http.Json;
import tools.jackson.databind.node.ObjectNode;

/** What an answer took, as clients are told. */
public record Usage(int promptTokens, int cachedTokens, int answerTokens) {
  ObjectNode json() {
    var usage = Json.object();
    usage.put("prompt_tokens", promptTokens);
    usage.put("completion_tokens", answerTokens);
    usage.put("total_tokens", promptTokens + answerTokens);
    usage.set("prompt_tokens_details", Json.object().put("cached_tokens", cachedTokens));
    return usage;
  }
}
