package dev.kvasir.embedded.api;

import dev.kvasir.net.ApiError;
import dev.kvasir.net.Refused;
import dev.kvasir.text.ChatMessage;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** Reads what a request says: its messages, or the text to go on from. */
final class Messages {
  private static final int MESSAGES_MAX = 4_096;

  private Messages() {}

  static List<ChatMessage> read(Fields fields) {
    var node = fields.node("messages");
    if (node == null || !node.isArray() || node.isEmpty() || node.size() > MESSAGES_MAX) {
      throw new Refused(
          ApiError.badField(
              "messages", "messages must be an array of 1 to " + MESSAGES_MAX + " messages"));
    }
    var messages = new ArrayList<ChatMessage>(node.size());
    for (var each : node) {
      var message = new Fields(each);
      messages.add(new ChatMessage(role(message), content(message)));
    }
    return messages;
  }

  private static ChatMessage.Role role(Fields message) {
    var role = message.text("role", "");
    return switch (role) {
      case "system", "developer" -> ChatMessage.Role.SYSTEM;
      case "user" -> ChatMessage.Role.USER;
      case "assistant" -> ChatMessage.Role.ASSISTANT;
      case "tool" -> ChatMessage.Role.TOOL;
      default ->
          throw new Refused(
              ApiError.badField(
                  "messages",
                  "a message has the role \"" + role + "\", expected system, user or assistant"));
    };
  }

  /** A text, or parts of which each is one. */
  private static String content(Fields message) {
    var node = message.node("content");
    if (node == null) return "";
    if (node.isString()) return node.asString();
    if (!node.isArray()) throw Fields.wrong("content", "a string or an array of parts", node);
    var text = new StringBuilder();
    for (var each : node) {
      var part = new Fields(each);
      if (!part.text("type", "").equals("text")) {
        throw new Refused(
            ApiError.badField("messages", "this model reads text only: send parts of type text"));
      }
      text.append(part.text("text", ""));
    }
    return text.toString();
  }

  /** One prompt: a string, or the numbers of its tokens, perhaps as the only one of an array. */
  static Prompt prompt(Fields fields) {
    var node = fields.node("prompt");
    if (node == null) {
      throw new Refused(ApiError.badField("prompt", "the request has no prompt"));
    }
    boolean isNested = node.isArray() && !node.isEmpty() && !node.get(0).isNumber();
    if (isNested && node.size() > 1) {
      throw new Refused(
          ApiError.badField("prompt", "one prompt for each request: send several requests"));
    }
    var one = isNested ? node.get(0) : node;
    if (one.isString()) return new Prompt.Text(one.asString());
    if (one.isArray() && !one.isEmpty()) return new Prompt.Tokens(tokens(one));
    throw Fields.wrong("prompt", "a string or an array of tokens", one);
  }

  static List<Integer> tokens(JsonNode array) {
    var tokens = new ArrayList<Integer>(array.size());
    for (var each : array) {
      if (!each.isIntegralNumber() || !each.canConvertToInt() || each.intValue() < 0) {
        throw Fields.wrong("prompt", "the numbers of tokens", each);
      }
      tokens.add(each.intValue());
    }
    return tokens;
  }
}
