package dev.kvasir.gateway.request;

import dev.kvasir.Nullable;
import dev.kvasir.net.Json;
import java.nio.charset.StandardCharsets;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Turns requests to {@code /v1/messages} and {@code /v1/responses} into the chat of which vLLM
 * makes the same prompt, so that their tokens can be known.
 *
 * <p>Only what gives the same prompt with every template is turned; of anything else the tokens
 * stay unknown. Nothing of it is sent to a worker to be answered.
 */
final class ChatForm {
  /** vLLM leaves out system texts that begin so: they differ from request to request. */
  private static final String BILLING = "x-anthropic-billing-header";

  /** Fields that change the prompt in ways that are not followed here. */
  private static final List<String> OTHERS =
      List.of("previous_response_id", "conversation", "prompt", "reasoning", "thinking");

  private final RequestFields fields;
  private final ArrayNode messages = Json.array();

  private ChatForm(RequestFields fields) {
    this.fields = fields;
  }

  /** The body of the chat; null where the prompt cannot be known. */
  static byte @Nullable [] of(ApiPath path, RequestFields fields) {
    if (path == ApiPath.CHAT || path == ApiPath.COMPLETIONS) return fields.body();
    var form = new ChatForm(fields);
    boolean isKnown =
        switch (path) {
          case MESSAGES -> form.ofMessages();
          case RESPONSES -> form.ofResponses();
          default -> false;
        };
    return isKnown ? form.body() : null;
  }

  private byte @Nullable [] body() {
    var body = Json.object();
    body.put("model", fields.text("model"));
    body.set("messages", messages);
    var tools = tools();
    if (tools == null) return null;
    if (!tools.isEmpty()) body.set("tools", tools);
    var options = fields.value("chat_template_kwargs");
    if (options != null) body.set("chat_template_kwargs", options);
    return body.toString().getBytes(StandardCharsets.UTF_8);
  }

  private boolean ofMessages() {
    var output = fields.value("output_config");
    if (hasOthers() || (output != null && output.hasNonNull("effort"))) return false;
    var system = fields.value("system");
    var text = system == null ? "" : systemText(system);
    if (!text.isEmpty()) add("system", text);
    var turns = fields.value("messages");
    if (turns == null || !turns.isArray()) return false;
    for (var turn : turns) if (!addTurn(turn)) return false;
    return true;
  }

  private boolean hasOthers() {
    for (var name : OTHERS) if (fields.value(name) != null) return true;
    return false;
  }

  private static String systemText(JsonNode system) {
    if (system.isString()) return system.asString();
    var text = new StringBuilder();
    for (var block : system) {
      var part = block.path("text").asString("");
      if (block.path("type").asString("").equals("text") && !part.startsWith(BILLING)) {
        text.append(part);
      }
    }
    return text.toString();
  }

  /** A turn of {@code /v1/messages}; where templates want system texts differs. */
  private boolean addTurn(JsonNode turn) {
    var role = turn.path("role").asString("");
    var content = turn.path("content");
    if (!role.equals("user") && !role.equals("assistant")) return false;
    if (content.isString()) {
      add(role, content.asString());
      return true;
    }
    var message = Json.object().put("role", role);
    var parts = Json.array();
    var calls = Json.array();
    for (var block : content) {
      boolean isKnown =
          switch (block.path("type").asString("")) {
            case "text" -> addText(parts, block);
            case "tool_use" -> addCall(calls, block.path("id"), block, arguments(block));
            case "tool_result" -> role.equals("user") && addResult(block);
            case "redacted_thinking" -> true;
            default -> false;
          };
      if (!isKnown) return false;
    }
    if (!calls.isEmpty()) message.set("tool_calls", calls);
    if (parts.size() == 1) message.set("content", parts.path(0).path("text"));
    else if (!parts.isEmpty()) message.set("content", parts);
    if (message.has("content") || role.equals("assistant")) messages.add(message);
    return true;
  }

  private static boolean addText(ArrayNode parts, JsonNode block) {
    var text = block.path("text").asString("");
    if (!text.isEmpty()) parts.addObject().put("type", "text").put("text", text);
    return true;
  }

  private static String arguments(JsonNode block) {
    return block.path("input").isObject() ? block.path("input").toString() : "{}";
  }

  private static boolean addCall(ArrayNode calls, JsonNode id, JsonNode named, String arguments) {
    var call = calls.addObject().put("id", id.asString("")).put("type", "function");
    call.putObject("function")
        .put("name", named.path("name").asString(""))
        .put("arguments", arguments);
    return true;
  }

  private boolean addResult(JsonNode block) {
    var content = block.path("content");
    var text = new StringBuilder(content.asString(""));
    for (var part : content.isArray() ? content : Json.array()) {
      if (!part.path("type").asString("").equals("text")) return false;
      if (!text.isEmpty()) text.append('\n');
      text.append(part.path("text").asString(""));
    }
    addResult(block.path("tool_use_id"), text.toString());
    return true;
  }

  private void addResult(JsonNode id, String text) {
    messages
        .addObject()
        .put("role", "tool")
        .put("tool_call_id", id.asString(""))
        .put("content", text);
  }

  private void add(String role, String content) {
    messages.addObject().put("role", role).put("content", content);
  }

  private boolean ofResponses() {
    if (hasOthers()) return false;
    var instructions = fields.text("instructions");
    if (!instructions.isEmpty()) add("system", instructions);
    var input = fields.value("input");
    if (input == null) return false;
    if (input.isString()) {
      add("user", input.asString());
      return true;
    }
    for (var item : input) if (!addItem(item)) return false;
    return input.isArray();
  }

  private boolean addItem(JsonNode item) {
    var status = item.path("status").asString("");
    if (status.equals("in_progress") || status.equals("incomplete")) return false;
    return switch (item.path("type").asString("message")) {
      case "message" ->
          item.path("role").asString("").equals("assistant") ? addAnswer(item) : addQuestion(item);
      case "function_call" -> {
        var arguments = item.path("arguments").asString("");
        yield addCall(callsOfLast(), item.path("call_id"), item, arguments);
      }
      case "function_call_output" -> {
        if (!item.path("output").isString()) yield false;
        addResult(item.path("call_id"), item.path("output").asString());
        yield true;
      }
      default -> false;
    };
  }

  private boolean addQuestion(JsonNode item) {
    var role = item.path("role").asString("");
    if (role.isEmpty()) return false;
    var content = item.path("content");
    if (content.isString()) {
      add(role, content.asString());
      return true;
    }
    var parts = Json.array();
    for (var part : content) {
      var type = part.path("type").asString("");
      if (!type.equals("input_text") && !type.equals("text")) return false;
      parts.addObject().put("type", "text").put("text", part.path("text").asString(""));
    }
    messages.addObject().put("role", role).set("content", parts);
    return true;
  }

  /** Adds what an assistant said; with the calls of tools that follow, it is one message. */
  private boolean addAnswer(JsonNode item) {
    var content = item.path("content");
    if (!content.isString() && content.size() != 1) return false;
    var text = content.isString() ? content : content.path(0).path("text");
    if (!text.isString()) return false;
    var last = lastOfAssistant();
    if (last != null && !last.has("content")) last.set("content", text);
    else messages.addObject().put("role", "assistant").set("content", text);
    return true;
  }

  private ArrayNode callsOfLast() {
    var last = lastOfAssistant();
    if (last == null) last = messages.addObject().put("role", "assistant");
    if (last.path("tool_calls") instanceof ArrayNode calls) return calls;
    return last.putArray("tool_calls");
  }

  private @Nullable ObjectNode lastOfAssistant() {
    if (messages.isEmpty()) return null;
    var last = messages.path(messages.size() - 1);
    return last.path("role").asString("").equals("assistant") ? (ObjectNode) last : null;
  }

  /** Null where there are others than functions. */
  private @Nullable ArrayNode tools() {
    var tools = fields.value("tools");
    var functions = Json.array();
    if (tools == null) return functions;
    for (var tool : tools) {
      boolean isFlat = tool.has("parameters") || tool.path("type").asString("").equals("function");
      if (!isFlat && !tool.has("input_schema")) return null;
      var function = functions.addObject().put("type", "function").putObject("function");
      function.set("name", tool.path("name"));
      if (tool.hasNonNull("description")) function.set("description", tool.path("description"));
      function.set("parameters", tool.path(isFlat ? "parameters" : "input_schema"));
    }
    return functions;
  }
}
