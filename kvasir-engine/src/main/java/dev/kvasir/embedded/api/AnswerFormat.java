package dev.kvasir.embedded.api;

import dev.kvasir.Nullable;
import dev.kvasir.net.Json;
import dev.kvasir.net.openai.Usage;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Writes one answer as clients of the OpenAI interface read it, whole or piece by piece.
 *
 * @param isChat whether it answers a conversation or continues a text
 * @param createdSeconds when it was begun, since 1970
 */
public record AnswerFormat(boolean isChat, String id, String model, long createdSeconds) {
  /** Reason why an answer ended. */
  public enum Finish {
    STOP("stop"),
    LENGTH("length");

    private final String key;

    Finish(String key) {
      this.key = key;
    }
  }

  /** Returns what a stream of a conversation begins with. */
  public String opening() {
    var delta = Json.object().put("role", "assistant").put("content", "");
    return chunk(choice("delta", delta, null, null)).toString();
  }

  /** More of the answer; {@code logprobs} only where they were asked for. */
  public String piece(String text, @Nullable JsonNode logprobs) {
    if (!isChat) return chunk(textChoice(text, null, logprobs)).toString();
    return chunk(choice("delta", Json.object().put("content", text), null, logprobs)).toString();
  }

  /** The end of a stream. */
  public String closing(Finish finish) {
    if (!isChat) return chunk(textChoice("", finish, null)).toString();
    return chunk(choice("delta", Json.object(), finish, null)).toString();
  }

  /** Returns what comes after the end, if it was asked for. */
  public String usage(Usage usage) {
    var chunk = head(isChat ? "chat.completion.chunk" : "text_completion");
    chunk.set("choices", Json.array());
    chunk.set("usage", usage.json());
    return chunk.toString();
  }

  /** All of it at once. */
  public ObjectNode whole(String text, Finish finish, @Nullable JsonNode logprobs, Usage usage) {
    var whole = head(isChat ? "chat.completion" : "text_completion");
    var message = Json.object().put("role", "assistant").put("content", text);
    var choice =
        isChat ? choice("message", message, finish, logprobs) : textChoice(text, finish, logprobs);
    whole.set("choices", Json.array().add(choice));
    whole.set("usage", usage.json());
    return whole;
  }

  private ObjectNode chunk(ObjectNode choice) {
    var chunk = head(isChat ? "chat.completion.chunk" : "text_completion");
    chunk.set("choices", Json.array().add(choice));
    return chunk;
  }

  private ObjectNode head(String object) {
    return Json.object()
        .put("id", id)
        .put("object", object)
        .put("created", createdSeconds)
        .put("model", model);
  }

  private static ObjectNode choice(
      String name, ObjectNode content, @Nullable Finish finish, @Nullable JsonNode logprobs) {
    var choice = Json.object().put("index", 0);
    choice.set(name, content);
    return end(choice, finish, logprobs);
  }

  private static ObjectNode textChoice(
      String text, @Nullable Finish finish, @Nullable JsonNode logprobs) {
    return end(Json.object().put("index", 0).put("text", text), finish, logprobs);
  }

  private static ObjectNode end(
      ObjectNode choice, @Nullable Finish finish, @Nullable JsonNode logprobs) {
    if (logprobs == null) choice.putNull("logprobs");
    else choice.set("logprobs", logprobs);
    if (finish == null) choice.putNull("finish_reason");
    else choice.put("finish_reason", finish.key);
    return choice;
  }
}
