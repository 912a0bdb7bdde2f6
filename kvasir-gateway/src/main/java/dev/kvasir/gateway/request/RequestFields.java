package dev.kvasir.gateway.request;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.kvasir.Nullable;
import dev.kvasir.net.ApiError;
import dev.kvasir.net.Json;
import dev.kvasir.net.Refused;
import dev.kvasir.net.server.BodyShare;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The fields of a request, and where in its body each of them stands.
 *
 * <p>So a field can be put in, changed or left out while the bytes of all others stay as they came.
 */
public final class RequestFields {
  /** Position of a field: from the quote of its name to the end of its value. */
  private record Span(int start, int valueStart, int end) {}

  /** The values of a longer body are read when they are asked for: it may be an image. */
  private static final int TREE_BYTES_MAX = 128 << 10;

  /** Of which every one is kept, with its place. */
  private static final int FIELDS_MAX = 1_000;

  /** The bytes that a name, a value or a bracket takes in a tree, with its holder. */
  private static final int TOKEN_HEAP_BYTES = 64;

  static final RequestFields NONE =
      new RequestFields(new byte[0], Map.of(), null, BodyShare.free());

  private final BodyShare share;
  private final byte[] body;
  private final Map<String, Span> spans;

  /** All values; null for a long body. */
  private final @Nullable ObjectNode tree;

  private RequestFields(
      byte[] body, Map<String, Span> spans, @Nullable ObjectNode tree, BodyShare share) {
    this.body = body;
    this.spans = spans;
    this.tree = tree;
    this.share = share;
  }

  /** Those of a body that no caller has sent. */
  public static RequestFields of(byte[] body) {
    return of(body, BodyShare.free());
  }

  /**
   * Throws {@link Refused} for anything but one JSON object.
   *
   * @param share from which the memory is taken that they need
   */
  static RequestFields of(byte[] body, BodyShare share) {
    Json.requireUtf8(body);
    var tree = body.length > TREE_BYTES_MAX ? null : Json.object();
    try (var parser = Json.factory().createParser(ObjectReadContext.empty(), body)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) throw new Refused(notAnObject());
      var spans = new LinkedHashMap<String, Span>();
      while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
        Json.requireFields(spans.size() + 1, FIELDS_MAX);
        var name = parser.currentName();
        int start = offset(parser);
        parser.nextToken();
        int valueStart = offset(parser);
        if (tree == null) Json.skip(parser, share::requireOpen);
        else tree.set(name, Json.value(parser));
        parser.finishToken();
        int end = (int) parser.currentLocation().getByteOffset();
        spans.put(name, new Span(start, valueStart, end));
      }
      if (parser.nextToken() != null) throw new Refused(notAnObject());
      share.reserveToRead(parser.currentTokenCount() * TOKEN_HEAP_BYTES, body.length);
      return new RequestFields(body, spans, tree, share);
    } catch (JacksonException e) {
      throw new Refused(Json.unreadable(e, body));
    }
  }

  private static int offset(JsonParser parser) {
    return (int) parser.currentTokenLocation().getByteOffset();
  }

  private static ApiError notAnObject() {
    return ApiError.badRequest("the body must be one JSON object");
  }

  boolean has(String name) {
    return spans.containsKey(name);
  }

  /** The bytes of the field's value; none where there is no such field. */
  byte[] raw(String name) {
    var span = spans.get(name);
    if (span == null) return new byte[0];
    return Arrays.copyOfRange(body, span.valueStart, span.end);
  }

  /** The value of the field; null where there is none, or it is null. */
  @Nullable
  JsonNode value(String name) {
    if (tree != null) {
      var value = tree.get(name);
      return value == null || value.isNull() ? null : value;
    }
    var span = spans.get(name);
    if (span == null) return null;
    // All of the body has been parsed: what begins like one of these is one.
    return switch (body[span.valueStart]) {
      case 'n' -> null;
      case 't' -> Json.TRUE;
      case 'f' -> Json.FALSE;
      case '"' -> quoted(span.valueStart + 1, span.end - 1, name);
      default -> Json.read(raw(name));
    };
  }

  /** Returns whether the value is an array or object with something in it. */
  boolean isFilled(String name) {
    int first = firstInside(name);
    return first != 0 && first != ']' && first != '}';
  }

  /** Returns whether the value is a text. */
  boolean isText(String name) {
    var span = spans.get(name);
    return span != null && body[span.valueStart] == '"';
  }

  /** Returns whether the value is an array that begins with a number. */
  boolean isNumbers(String name) {
    int first = firstInside(name);
    var span = spans.get(name);
    boolean isNumber = first == '-' || (first >= '0' && first <= '9');
    return span != null && body[span.valueStart] == '[' && isNumber;
  }

  /** The first byte inside the brackets of the value; 0 where it has none. */
  private int firstInside(String name) {
    var span = spans.get(name);
    if (span == null || (body[span.valueStart] != '[' && body[span.valueStart] != '{')) return 0;
    int at = span.valueStart + 1;
    while (body[at] <= ' ' && body[at] > 0) at++;
    return body[at];
  }

  private JsonNode quoted(int from, int to, String name) {
    if (!isPlain(from, to)) return Json.read(raw(name));
    return Json.textNode(new String(body, from, to - from, US_ASCII));
  }

  /** Returns whether the bytes of a text are its letters. */
  private boolean isPlain(int from, int to) {
    for (int at = from; at < to; at++) if (body[at] < ' ' || body[at] == '\\') return false;
    return true;
  }

  /** The text of the field; empty where there is none. Throws {@link Refused} for other values. */
  public String text(String name) {
    var value = value(name);
    if (value == null) return "";
    if (!value.isString()) {
      throw new Refused(ApiError.badField(name, "\"" + name + "\" must be a string"));
    }
    var text = value.asString();
    if (!isWhole(text)) {
      throw new Refused(
          ApiError.badField(name, "\"" + name + "\" has half a character: send whole ones"));
    }
    return text;
  }

  /** Returns whether UTF-8 has all characters of a text. */
  private static boolean isWhole(String text) {
    for (int at = 0; at < text.length(); ) {
      int character = text.codePointAt(at);
      if (Character.getType(character) == Character.SURROGATE) return false;
      at += Character.charCount(character);
    }
    return true;
  }

  /** As {@link #text}, for what is kept or repeated. */
  String shortText(String name, int charsMax) {
    var text = text(name);
    if (text.length() > charsMax) {
      throw new Refused(
          ApiError.badField(
              name,
              "\"%s\" has %d characters: at most %d are taken"
                  .formatted(name, text.length(), charsMax)));
    }
    return text;
  }

  boolean isTrue(String name) {
    var value = value(name);
    if (value == null) return false;
    if (!value.isBoolean()) {
      throw new Refused(ApiError.badField(name, "\"" + name + "\" must be true or false"));
    }
    return value.asBoolean();
  }

  int bytes() {
    return body.length;
  }

  /** All of the body, as it came. */
  public byte[] body() {
    return body;
  }

  /** These, to be kept as long as the request is answered: a tree takes many times its bytes. */
  RequestFields withoutTree() {
    return tree == null ? this : new RequestFields(body, spans, null, share);
  }

  /** All of the body as a tree, which takes many times its bytes. */
  public JsonNode read() {
    return tree == null ? Json.read(body) : tree;
  }

  /** Does work over the body beside the loop where it is large, in turn with that of its sender. */
  public <T> Future<T> work(Context context, Callable<T> work) {
    return share.work(context, body.length, work);
  }

  /** The values of all fields, not to be changed; null where they were not read at once. */
  public @Nullable JsonNode tree() {
    return tree;
  }

  Buffer buffer() {
    return Buffer.buffer(body);
  }

  Edit edit() {
    return new Edit();
  }

  /** A body of these fields alone, as far as they are there. */
  Buffer only(String... names) {
    var wanted = List.of(names);
    var edit = edit();
    for (var name : spans.keySet()) if (!wanted.contains(name)) edit.remove(name);
    return edit.buffer();
  }

  /** A changed copy of the body, in the making. */
  final class Edit {
    private final Map<String, String> changed = new LinkedHashMap<>();

    /** Gives the field this value, in JSON, wherever it stood before. */
    Edit set(String name, String json) {
      changed.put(name, json);
      return this;
    }

    /** Gives the field this value only where it has one already. */
    Edit replace(String name, String json) {
      return has(name) ? set(name, json) : this;
    }

    Edit remove(String... names) {
      for (var name : names) changed.put(name, "");
      return this;
    }

    Buffer buffer() {
      if (changed.isEmpty()) return RequestFields.this.buffer();
      var out = Buffer.buffer(body.length + 256).appendByte((byte) '{');
      for (var entry : spans.entrySet()) {
        if (changed.containsKey(entry.getKey())) continue;
        separate(out);
        var span = entry.getValue();
        out.appendBytes(body, span.start, span.end - span.start);
      }
      for (var entry : changed.entrySet()) {
        if (entry.getValue().isEmpty()) continue;
        separate(out);
        var field = "\"" + entry.getKey() + "\":" + entry.getValue();
        out.appendBytes(field.getBytes(StandardCharsets.UTF_8));
      }
      return out.appendByte((byte) '}');
    }

    private static void separate(Buffer out) {
      if (out.length() > 1) out.appendByte((byte) ',');
    }
  }
}
