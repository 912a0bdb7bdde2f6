package dev.kvasir.embedded.api;

import dev.kvasir.net.Json;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Probabilities of the tokens of an answer, as clients are told them. */
public final class Logprobs {
  /** A token by its bytes, and the logarithm of its probability. */
  @SuppressWarnings("ArrayRecordComponent")
  public record Likely(byte[] bytes, double logprob) {
    private String text() {
      return new String(bytes, StandardCharsets.UTF_8);
    }
  }

  /** A token that was chosen, and the likeliest ones in its place. */
  public record Chosen(Likely token, List<Likely> likeliest) {
    public Chosen {
      likeliest = List.copyOf(likeliest);
    }
  }

  private final List<Chosen> tokens = new ArrayList<>();

  public void add(Chosen token) {
    tokens.add(token);
  }

  /** For the answer to a conversation. */
  public JsonNode chat() {
    var content = Json.array();
    for (var chosen : tokens) {
      var entry = entry(chosen.token());
      var top = Json.array();
      for (var likely : chosen.likeliest()) top.add(entry(likely));
      entry.set("top_logprobs", top);
      content.add(entry);
    }
    return Json.object().set("content", content);
  }

  private static ObjectNode entry(Likely likely) {
    var entry = Json.object().put("token", likely.text()).put("logprob", likely.logprob());
    var bytes = Json.array();
    for (byte each : likely.bytes()) bytes.add(each & 0xff);
    entry.set("bytes", bytes);
    return entry;
  }

  /** For the continuation of a text, of which so many characters are out already. */
  public JsonNode text(int offset) {
    var texts = Json.array();
    var logprobs = Json.array();
    var tops = Json.array();
    var offsets = Json.array();
    int at = offset;
    for (var chosen : tokens) {
      var text = chosen.token().text();
      texts.add(text);
      logprobs.add(chosen.token().logprob());
      var top = Json.object();
      for (var likely : chosen.likeliest()) top.put(likely.text(), likely.logprob());
      tops.add(top);
      offsets.add(at);
      at += text.length();
    }
    var whole = Json.object();
    whole.set("tokens", texts);
    whole.set("token_logprobs", logprobs);
    whole.set("top_logprobs", tops);
    whole.set("text_offset", offsets);
    return whole;
  }
}
