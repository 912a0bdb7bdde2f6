package dev.kvasir.sim.trace;

import dev.kvasir.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Walks the lines of a trace that has a JSON object on each. */
final class JsonRows {
  private static final JsonFactory TOKENS = new JsonFactory();

  private final JsonMapper mapper = JsonMapper.builder().build();
  private final TraceLines lines;
  private final Numbers numbers;

  JsonRows(TraceLines lines) {
    this.lines = lines;
    numbers = new Numbers(lines);
  }

  /** The object on the next line; null at the end. */
  @Nullable
  JsonNode next() {
    return lines.next() ? parse() : null;
  }

  private JsonNode parse() {
    try {
      var node = mapper.readTree(lines.bytes(), lines.start(), lines.length());
      if (node.isObject()) return node;
    } catch (JacksonException _) {
      throw noObject(lines);
    }
    throw noObject(lines);
  }

  /** The tokens of the line one by one. */
  static JsonParser parser(TraceLines lines) {
    return TOKENS.createParser(
        ObjectReadContext.empty(), lines.bytes(), lines.start(), lines.length());
  }

  /** Replaces the parser's message, which is about its internals. */
  static TraceError noObject(TraceLines lines) {
    return lines.error(
        "the line is not one whole JSON object: " + lines.glimpse(),
        "it may be cut off: remove it, or fetch the file again");
  }

  JsonNode object(JsonNode node, String field) {
    var found = node.path(field);
    if (found.isObject()) return found;
    throw missing(field, "an object");
  }

  String text(JsonNode node, String field) {
    var found = node.path(field);
    return found.isString() ? found.stringValue() : "";
  }

  int tokens(JsonNode node, String field, int tokensMin) {
    var found = node.path(field);
    if (!found.isIntegralNumber()) throw missing(field, "a whole number");
    return numbers.tokens(field, found.asString(), tokensMin);
  }

  /** A length that may be left out, and is then 0. */
  int tokensIfAny(JsonNode node, String field) {
    return isAbsent(node, field) ? 0 : tokens(node, field, 0);
  }

  long nanos(JsonNode node, String field, long unitNanos) {
    var found = node.path(field);
    if (!found.isNumber()) throw missing(field, "a number");
    return numbers.nanos(field, found.asString(), unitNanos);
  }

  /** A time that may be left out, and is then 0. */
  long nanosIfAny(JsonNode node, String field, long unitNanos) {
    return isAbsent(node, field) ? 0 : nanos(node, field, unitNanos);
  }

  private static boolean isAbsent(JsonNode node, String field) {
    var found = node.path(field);
    return found.isMissingNode() || found.isNull();
  }

  TraceError missing(String field, String needed) {
    return lines.error(
        "'" + field + "' is not there, or not " + needed,
        "each request needs it: correct or remove the line");
  }

  TraceError error(String problem, String remedy) {
    return lines.error(problem, remedy);
  }
}
