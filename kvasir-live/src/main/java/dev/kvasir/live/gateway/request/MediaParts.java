package dev.kvasir.live.gateway.request;

import dev.kvasir.live.Sha256;
import dev.kvasir.live.http.Json;
import dev.kvasir.live.http.Refused;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;

/**
 * The parts of messages that are no text: images, audio, video and files.
 *
 * <p>How many tokens a worker makes of one depends on its model and is not known here, least of all
 * from the number of bytes. Each counts as {@link #TOKENS}, until the worker has told the length of
 * the prompt.
 */
public final class MediaParts {
  /** What a part counts as: about an image of 640 by 640 pixels in patches of 28. */
  public static final int TOKENS = 512;

  /** The types of parts that are text; one without a type is text where it has the field text. */
  private static final Set<String> TEXT_TYPES =
      Set.of("text", "input_text", "output_text", "refusal", "thinking");

  private record Span(int start, int end) {}

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
      if (parser.nextToken() == JsonToken.START_ARRAY) {
        while (parser.nextToken() == JsonToken.START_OBJECT) message(parser, spans);
      }
    } catch (JacksonException e) {
      throw new Refused(Json.unreadable(e, messages));
    }
    return new MediaParts(messages, spans);
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

  private static void message(JsonParser parser, List<Span> spans) {
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      boolean isContent = parser.currentName().equals("content");
      if (parser.nextToken() == JsonToken.START_ARRAY && isContent) {
        while (parser.nextToken() != JsonToken.END_ARRAY) part(parser, spans);
      } else {
        parser.skipChildren();
      }
    }
  }

  private static void part(JsonParser parser, List<Span> spans) {
    if (parser.currentToken() != JsonToken.START_OBJECT) {
      parser.skipChildren();
      return;
    }
    int start = (int) parser.currentTokenLocation().getByteOffset();
    String type = null;
    boolean hasText = false;
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      var name = parser.currentName();
      boolean isText = parser.nextToken() == JsonToken.VALUE_STRING;
      if (name.equals("type") && isText) type = parser.getString();
      if (name.equals("text")) hasText = true;
      parser.skipChildren();
    }
    int end = (int) parser.currentLocation().getByteOffset();
    boolean isMedia = type == null ? !hasText : !TEXT_TYPES.contains(type);
    if (isMedia && start >= 0) spans.add(new Span(start, end));
  }
}
