package dev.kvasir.gateway.request;

import dev.kvasir.kv.name.Sha256;
import dev.kvasir.net.Json;
import dev.kvasir.net.Refused;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.databind.JsonNode;

/**
 * The parts of messages that are no text: images, audio, video and files, also those in the results
 * of tools.
 *
 * <p>How many tokens a worker makes of one depends on its model and is not known here, least of all
 * from the number of bytes. Each counts as {@link #TOKENS}, until the worker has told the length of
 * the prompt.
 */
public final class MediaParts {
  /** Tokens that a part counts as: about an image of 640 by 640 pixels in patches of 28. */
  public static final int TOKENS = 512;

  /**
   * The types of parts that are text, or have their parts inside; one without a type is text where
   * it has the field text.
   */
  private static final Set<String> TEXT_TYPES =
      Set.of(
          "text",
          "input_text",
          "output_text",
          "refusal",
          "thinking",
          "redacted_thinking",
          "tool_use",
          "tool_result",
          "tool_reference",
          "message",
          "reasoning",
          "function_call",
          "function_call_output",
          "custom_tool_call",
          "custom_tool_call_output",
          "item_reference");

  /** The fields of messages and parts that have parts inside. */
  private static final List<String> NESTING = List.of("content", "output");

  private record Span(int start, int end) {}

  private enum Level {
    MESSAGE,
    PART
  }

  private final byte[] messages;
  private final List<Span> spans;

  private MediaParts(byte[] messages, List<Span> spans) {
    this.messages = messages;
    this.spans = spans;
  }

  /**
   * Finds them.
   *
   * @param messages the value of the field, in JSON; whatever has another form has no such parts
   */
  static MediaParts in(byte[] messages) {
    var spans = new ArrayList<Span>();
    try (var parser = Json.factory().createParser(ObjectReadContext.empty(), messages)) {
      switch (parser.nextToken()) {
        case START_ARRAY -> parts(parser, spans, Level.MESSAGE);
        case START_OBJECT -> object(parser, spans, Level.MESSAGE);
        case null, default -> {}
      }
    } catch (JacksonException e) {
      throw new Refused(Json.unreadable(e, messages));
    }
    return new MediaParts(messages, spans);
  }

  /** Returns whether a field that has been read has parts other than text. */
  static boolean areIn(JsonNode messages) {
    return messages.isArray() ? areIn(messages, Level.MESSAGE) : isIn(messages, Level.MESSAGE);
  }

  private static boolean areIn(JsonNode parts, Level level) {
    for (var part : parts) if (isIn(part, level)) return true;
    return false;
  }

  private static boolean isIn(JsonNode part, Level level) {
    if (!part.isObject()) return false;
    for (var name : NESTING) {
      var inside = part.path(name);
      if (inside.isArray() && areIn(inside, Level.PART)) return true;
    }
    var type = part.path("type");
    if (type.isString()) return !TEXT_TYPES.contains(type.asString());
    return level == Level.PART && !part.has("text");
  }

  boolean isEmpty() {
    return spans.isEmpty();
  }

  /**
   * The bytes of the messages, where as many stand for each part as for its tokens. They are made
   * of its hash, so that blocks with another image have another name.
   */
  byte[] replaced(int bytesPerToken) {
    if (spans.isEmpty()) return messages;
    var out = new ByteArrayOutputStream();
    int at = 0;
    for (var span : spans) {
      out.write(messages, at, span.start - at);
      var hash = Sha256.of(Arrays.copyOfRange(messages, span.start, span.end));
      for (int i = 0; i < TOKENS * bytesPerToken / hash.length; i++) out.writeBytes(hash);
      at = span.end;
    }
    out.write(messages, at, messages.length - at);
    return out.toByteArray();
  }

  private static void parts(JsonParser parser, List<Span> spans, Level level) {
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      if (parser.currentToken() == JsonToken.START_OBJECT) object(parser, spans, level);
      else parser.skipChildren();
    }
  }

  private static void object(JsonParser parser, List<Span> spans, Level level) {
    int start = (int) parser.currentTokenLocation().getByteOffset();
    int before = spans.size();
    String type = null;
    boolean hasText = level == Level.MESSAGE;
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      var name = parser.currentName();
      var token = parser.nextToken();
      if (name.equals("type") && token == JsonToken.VALUE_STRING) type = parser.getString();
      if (name.equals("text")) hasText = true;
      if (NESTING.contains(name) && token == JsonToken.START_ARRAY) {
        parts(parser, spans, Level.PART);
      } else {
        parser.skipChildren();
      }
    }
    int end = (int) parser.currentLocation().getByteOffset();
    boolean isMedia = type == null ? !hasText : !TEXT_TYPES.contains(type);
    if (!isMedia || start < 0) return;
    // What is inside is a part of it.
    spans.subList(before, spans.size()).clear();
    spans.add(new Span(start, end));
  }
}
