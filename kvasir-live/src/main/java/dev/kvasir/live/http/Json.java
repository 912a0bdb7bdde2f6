package dev.kvasir.live.http;

import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** JSON as it comes from strangers: bounded in depth and size, and never read two ways. */
public final class Json {
  private static final int DEPTH_MAX = 64;
  private static final int TEXT_MAX = 8 << 20;
  private static final int NAME_MAX = 4_096;
  private static final int NUMBER_MAX = 100;

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
                  .build())
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .build();
  private static final JsonMapper MAPPER = JsonMapper.builder(FACTORY).build();

  private Json() {}

  /** The tree of a body; throws {@link Refused} where there is none. */
  public static JsonNode read(byte[] bytes) {
    requireUtf8(bytes);
    try {
      var tree = MAPPER.readTree(bytes);
      if (tree.isMissingNode()) throw new Refused(ApiError.badRequest("the body is empty"));
      return tree;
    } catch (JacksonException e) {
      throw new Refused(unreadable(e));
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

  /** What to tell of JSON that cannot be read. */
  public static ApiError unreadable(JacksonException e) {
    return ApiError.badRequest("the body is not JSON that can be read: " + e.getOriginalMessage());
  }

  /** Makes parsers with the same bounds, for bodies of which only a part matters. */
  public static JsonFactory factory() {
    return FACTORY;
  }

  /** The text as a JSON value, with its quotes. */
  public static String text(String text) {
    return MAPPER.getNodeFactory().stringNode(text).toString();
  }

  public static ObjectNode object() {
    return MAPPER.createObjectNode();
  }

  public static ArrayNode array() {
    return MAPPER.createArrayNode();
  }
}
