package dev.kvasir.gateway.prompt;

import static java.lang.System.Logger.Level.WARNING;

import dev.kvasir.Nullable;
import dev.kvasir.text.JsonTokenizer;
import dev.kvasir.text.JsonTokenizer.Frame;
import dev.kvasir.text.UnsupportedText;
import dev.kvasir.text.template.PromptTemplate;
import dev.kvasir.text.template.TemplateFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The tokenizer and the chat template of one model, as its files have them. */
public final class ModelText {
  /** Form in which templates are handed the content of a message. */
  enum Contents {
    /** A text. */
    TEXTS,
    /** A list of parts, each with a text. */
    PARTS
  }

  private static final System.Logger LOG = System.getLogger(ModelText.class.getName());
  private static final long FILE_BYTES_MAX = 4L << 20;
  private static final List<String> TOKEN_NAMES =
      List.of("bos_token", "eos_token", "pad_token", "unk_token");

  /** Fields that change the prompt in ways that are not followed here. */
  private static final List<String> OTHERS =
      List.of(
          "chat_template",
          "documents",
          "continue_final_message",
          "mm_processor_kwargs",
          "prompt_embeds",
          "suffix",
          "reasoning_effort",
          "truncate_prompt_tokens");

  private final JsonTokenizer tokenizer;
  private final @Nullable PromptTemplate template;
  private final Map<String, Object> names;

  private ModelText(
      JsonTokenizer tokenizer, @Nullable PromptTemplate template, Map<String, Object> names) {
    this.tokenizer = tokenizer;
    this.template = template;
    this.names = names;
  }

  /**
   * Reads a folder with tokenizer.json, and tokenizer_config.json or chat_template.jinja, or the
   * first of these files.
   */
  public static ModelText read(Path path) throws IOException, UnsupportedText {
    var tokenizer = JsonTokenizer.read(path);
    var parent = Files.isDirectory(path) ? path : path.toAbsolutePath().getParent();
    if (parent == null) return new ModelText(tokenizer, null, Map.of());
    var config = json(parent.resolve("tokenizer_config.json"));
    var source = source(parent, config);
    var names = new LinkedHashMap<String, Object>();
    for (var name : TOKEN_NAMES) {
      var value = config.path(name);
      var text = value.isObject() ? value.path("content") : value;
      if (text.isString()) names.put(name, text.asString());
    }
    return new ModelText(tokenizer, template(source, parent), names);
  }

  /** Null where there is none, or none that is understood: completions need no template. */
  private static @Nullable PromptTemplate template(String source, Path folder) {
    try {
      return source.isEmpty() ? null : PromptTemplate.of(source);
    } catch (TemplateFailure e) {
      LOG.log(
          WARNING,
          "the chat template in {0} is not understood ({1}): workers are asked for the tokens of"
              + " chats",
          folder,
          e.getMessage());
      return null;
    }
  }

  private static JsonNode json(Path file) throws IOException, UnsupportedText {
    if (!Files.exists(file)) return JsonMapper.shared().createObjectNode();
    if (Files.size(file) > FILE_BYTES_MAX) throw new UnsupportedText(file + " is too large");
    try {
      return JsonMapper.shared().readTree(Files.readAllBytes(file));
    } catch (JacksonException e) {
      throw new UnsupportedText(file + " is no JSON: " + e.getOriginalMessage());
    }
  }

  private static String source(Path folder, JsonNode config) throws IOException {
    var own = folder.resolve("chat_template.jinja");
    if (Files.exists(own) && Files.size(own) <= FILE_BYTES_MAX) return Files.readString(own);
    var template = config.path("chat_template");
    if (template.isString()) return template.asString();
    for (var each : template) {
      if (each.path("name").asString("").equals("default")) {
        return each.path("template").asString("");
      }
    }
    return "";
  }

  boolean hasTemplate() {
    return template != null;
  }

  /** The tokens of a completion's prompt. */
  int[] completion(JsonNode request) throws UnsupportedText {
    requirePlain(request);
    var prompt = request.path("prompt");
    if (!prompt.isString()) throw new UnsupportedText("a prompt that is no text");
    return tokenizer.encode(prompt.asString(), frame(request, Frame.SPECIAL));
  }

  /** The tokens of a conversation. */
  int[] chat(JsonNode request, Contents contents) throws UnsupportedText {
    requirePlain(request);
    if (template == null) throw new UnsupportedText("the model has no chat template");
    var values = new LinkedHashMap<>(names);
    values.put("messages", messages(request.path("messages"), contents));
    if (request.path("tools").isArray() && !request.path("tools").isEmpty()) {
      values.put("tools", PromptTemplate.value(request.path("tools")));
    }
    values.put("add_generation_prompt", request.path("add_generation_prompt").asBoolean(true));
    for (var each : request.path("chat_template_kwargs").properties()) {
      values.put(each.getKey(), PromptTemplate.value(each.getValue()));
    }
    try {
      return tokenizer.encode(template.render(values), frame(request, Frame.NONE));
    } catch (TemplateFailure e) {
      throw new UnsupportedText("the chat template refuses it: " + e.getMessage());
    }
  }

  private static void requirePlain(JsonNode request) throws UnsupportedText {
    for (var name : OTHERS) {
      var value = request.path(name);
      boolean isSet = !value.isMissingNode() && !value.isNull() && !isFalse(value);
      if (isSet) throw new UnsupportedText(name + " is not followed");
    }
  }

  private static boolean isFalse(JsonNode value) {
    return value.isBoolean() && !value.asBoolean();
  }

  private static Frame frame(JsonNode request, Frame usual) {
    var given = request.path("add_special_tokens");
    if (!given.isBoolean()) return usual;
    return given.asBoolean() ? Frame.SPECIAL : Frame.NONE;
  }

  private static List<Object> messages(JsonNode messages, Contents contents)
      throws UnsupportedText {
    var list = new ArrayList<Object>();
    var room = new ArgumentRoom();
    for (var each : messages) {
      var message = new LinkedHashMap<String, Object>();
      for (var field : each.properties()) {
        if (field.getKey().equals("tool_calls")) {
          message.put("tool_calls", calls(field.getValue(), room));
        } else if (!field.getKey().equals("content")) {
          message.put(field.getKey(), PromptTemplate.value(field.getValue()));
        }
      }
      message.put("content", content(each.path("content"), contents));
      list.add(message);
    }
    return list;
  }

  private static Object content(JsonNode content, Contents contents) throws UnsupportedText {
    var texts = new ArrayList<String>();
    if (content.isString()) texts.add(content.asString());
    for (var part : content.isArray() ? content : List.<JsonNode>of()) {
      if (!part.path("type").asString("text").equals("text") || !part.path("text").isString()) {
        throw new UnsupportedText("a part of a message that is no text");
      }
      texts.add(part.path("text").asString());
    }
    if (content.isNull() || content.isMissingNode()) return PromptTemplate.value(content);
    if (contents == Contents.TEXTS) return String.join("\n", texts);
    var parts = new ArrayList<Object>();
    for (var text : texts) {
      var part = new LinkedHashMap<String, Object>();
      part.put("type", "text");
      part.put("text", text);
      parts.add(part);
    }
    return parts;
  }

  /** Arguments of calls come as a text that is JSON, and templates have what it says. */
  private static Object calls(JsonNode calls, ArgumentRoom room) throws UnsupportedText {
    var list = new ArrayList<Object>();
    for (var call : calls) {
      var copy = call.deepCopy();
      var function = copy.path("function");
      if (function.isObject() && function.path("arguments").isString()) {
        var arguments = function.path("arguments").asString();
        room.add(arguments);
        try {
          var read = JsonMapper.shared().readTree(arguments.isBlank() ? "{}" : arguments);
          function.asObject().set("arguments", read);
        } catch (JacksonException e) {
          continue;
        }
      }
      list.add(PromptTemplate.value(copy));
    }
    return list;
  }

  /**
   * The part of a conversation that may be arguments of calls: read, they take many times their
   * bytes.
   */
  private static final class ArgumentRoom {
    private static final int SIGNS_MAX = 1 << 18;

    private int signs;

    void add(String json) throws UnsupportedText {
      for (int i = 0; i < json.length(); i++) {
        if ("{[,:".indexOf(json.charAt(i)) >= 0) signs++;
      }
      if (signs > SIGNS_MAX) {
        throw new UnsupportedText("arguments of calls with more than " + SIGNS_MAX + " signs");
      }
    }
  }
}
