package dev.kvasir.net;

import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.core.exc.UnexpectedEndOfInputException;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** JSON as it comes from strangers: bounded in depth and size, and never read two ways. */
public final class Json {
  private static final int DEPTH_MAX = 64;
  private static final int TEXT_MAX = 8 << 20;
  private static final int NAME_MAX = 4_096;
  private static final int NUMBER_MAX = 100;

  /** Names, values and brackets: a prompt of nearly a million tokens, or 300,000 fields. */
  private static final int TOKENS_MAX = 1 << 20;

  /** Of one object; all names of one that is being read are kept, to find those that repeat. */
  private static final int FIELDS_MAX = 16_384;

  private static final int LOOK_TOKENS = 4_096;

  /** From so many bytes a parser guesses the encoding. */
  private static final int ENCODING_BYTES = 4;

  /** Bytes from here on stand in the marks of other encodings, and nowhere in UTF-8. */
  private static final int MARK_MIN = 0xFE;

  private static final JsonFactory FACTORY =
      JsonFactory.builder()
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(DEPTH_MAX)
                  .maxStringLength(TEXT_MAX)
                  .maxNameLength(NAME_MAX)
                  .maxNumberLength(NUMBER_MAX)
                  .maxTokenCount(TOKENS_MAX)
                  .build())
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .build();
  private static final JsonMapper MAPPER = JsonMapper.builder(FACTORY).build();

  private static final JsonNodeFactory NODES = MAPPER.getNodeFactory();

  public static final JsonNode TRUE = NODES.booleanNode(true);
  public static final JsonNode FALSE = NODES.booleanNode(false);

  private Json() {}

  /** The tree of a body; throws {@link Refused} where there is none. */
  public static JsonNode read(byte[] bytes) {
    requireUtf8(bytes);
    try (var parser = FACTORY.createParser(ObjectReadContext.empty(), bytes)) {
      if (parser.nextToken() == null) throw new Refused(ApiError.badRequest("the body is empty"));
      var tree = value(parser);
      if (parser.nextToken() != null) {
        throw new Refused(ApiError.badRequest("the body is not valid JSON: it goes on after it"));
      }
      return tree;
    } catch (JacksonException e) {
      throw new Refused(unreadable(e, bytes));
    }
  }

  /**
   * Throws {@link Refused} where the parser would guess UTF-16 or UTF-32 from the first bytes: it
   * does not know then at which byte a value stands, and workers read UTF-8 alone.
   */
  public static void requireUtf8(byte[] bytes) {
    for (int i = 0; i < Math.min(bytes.length, ENCODING_BYTES); i++) {
      int unsigned = Byte.toUnsignedInt(bytes[i]);
      if (unsigned == 0 || unsigned >= MARK_MIN) {
        throw new Refused(ApiError.badRequest("the body is not UTF-8: send JSON in UTF-8"));
      }
    }
  }

  /**
   * Returns the error for JSON that cannot be read: what is wrong with it, and where.
   *
   * @param bytes in which the parser found it
   */
  public static ApiError unreadable(JacksonException e, byte[] bytes) {
    return ApiError.badRequest("the body is not valid JSON: " + problem(e, bytes));
  }

  private static String problem(JacksonException e, byte[] bytes) {
    var message = String.valueOf(e.getOriginalMessage());
    if (e instanceof StreamConstraintsException) {
      return ("it goes beyond a limit; at most %d levels, %d letters a text, %d a name, %d a"
              + " number, and %d names, values and brackets in all: split the request")
          .formatted(DEPTH_MAX, TEXT_MAX, NAME_MAX, NUMBER_MAX, TOKENS_MAX);
    }
    if (e instanceof UnexpectedEndOfInputException) {
      return "it ends at byte " + bytes.length + ", before it is complete";
    }
    long at = e.getLocation() == null ? -1 : e.getLocation().getByteOffset();
    if (at < 0 || at > bytes.length) return "it cannot be read";
    var place = "line %d, column %d".formatted(line(bytes, at), column(bytes, at));
    if (message.startsWith("Duplicate")) return "a name stands twice in one object, at " + place;
    if (at == bytes.length) return "it ends at byte " + at + ", before it is complete";
    return "unexpected " + shown(bytes[(int) at]) + " at " + place;
  }

  private static String shown(byte at) {
    boolean isPlain = at > ' ' && at < Byte.MAX_VALUE;
    return isPlain ? "'" + (char) at + "'" : "byte 0x%02x".formatted(Byte.toUnsignedInt(at));
  }

  private static int line(byte[] bytes, long at) {
    int line = 1;
    for (int i = 0; i < at; i++) if (bytes[i] == '\n') line++;
    return line;
  }

  /** In bytes, since a broken body may have no letters to count. */
  private static int column(byte[] bytes, long at) {
    int start = (int) at;
    while (start > 0 && bytes[start - 1] != '\n') start--;
    return (int) at - start + 1;
  }

  /** The value at which a parser of {@link #factory} stands, to its end. */
  public static JsonNode value(JsonParser parser) {
    return switch (parser.currentToken()) {
      case START_OBJECT -> {
        var object = object();
        for (int fields = 1; parser.nextToken() == JsonToken.PROPERTY_NAME; fields++) {
          requireFields(fields, FIELDS_MAX);
          var name = parser.currentName();
          parser.nextToken();
          object.set(name, value(parser));
        }
        yield object;
      }
      case START_ARRAY -> {
        var array = array();
        while (parser.nextToken() != JsonToken.END_ARRAY) array.add(value(parser));
        yield array;
      }
      case VALUE_STRING -> textNode(parser.getString());
      case VALUE_NUMBER_INT -> integer(parser);
      case VALUE_NUMBER_FLOAT -> NODES.numberNode(parser.getDoubleValue());
      case VALUE_TRUE -> TRUE;
      case VALUE_FALSE -> FALSE;
      case VALUE_NULL -> NODES.nullNode();
      case null, default -> throw new IllegalStateException("a parser at no value");
    };
  }

  /** Throws {@link Refused} for an object with more fields. */
  public static void requireFields(int fields, int most) {
    if (fields <= most) return;
    throw new Refused(
        ApiError.badRequest("an object has more than %d fields: send fewer".formatted(most)));
  }

  /**
   * Goes to the end of the value at which a parser of {@link #factory} stands, and makes nothing of
   * it.
   *
   * @param look is called now and then, and may throw
   */
  public static void skip(JsonParser parser, Runnable look) {
    var fields = new int[DEPTH_MAX + 1];
    int depth = 0;
    do {
      switch (parser.currentToken()) {
        case START_OBJECT, START_ARRAY -> fields[++depth] = 0;
        case END_OBJECT, END_ARRAY -> depth--;
        case PROPERTY_NAME -> requireFields(++fields[depth], FIELDS_MAX);
        case null -> throw new IllegalStateException("a parser at no value");
        default -> {}
      }
      if (depth == 0) return;
      if (parser.currentTokenCount() % LOOK_TOKENS == 0) look.run();
      parser.nextToken();
    } while (true);
  }

  private static JsonNode integer(JsonParser parser) {
    return switch (parser.getNumberType()) {
      case INT -> NODES.numberNode(parser.getIntValue());
      case LONG -> NODES.numberNode(parser.getLongValue());
      default -> NODES.numberNode(parser.getBigIntegerValue());
    };
  }

  /** Makes parsers with the same bounds, for bodies of which only a part matters. */
  public static JsonFactory factory() {
    return FACTORY;
  }

  /** The text as a node of a tree. */
  public static JsonNode textNode(String text) {
    return NODES.stringNode(text);
  }

  /** The text as a JSON value, with its quotes. */
  public static String text(String text) {
    return textNode(text).toString();
  }

  public static ObjectNode object() {
    return MAPPER.createObjectNode();
  }

  public static ArrayNode array() {
    return MAPPER.createArrayNode();
  }
}
