package dev.kvasir.sim.trace;

import dev.kvasir.Nullable;
import dev.kvasir.sim.spec.Nearest;
import java.util.Arrays;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/** The formats of traces that can be read. */
public enum TraceFormat {
  MOONCAKE("mooncake", Start.ZERO),
  AZURE("azure", Start.FIRST),
  BURSTGPT("burstgpt", Start.ZERO),
  VIDUR("vidur", Start.ZERO),
  BLIS("blis", Start.ZERO),
  KVASIR("kvasir", Start.FIRST),
  DYNAMO("dynamo", Start.FIRST);

  private final String title;
  private final Start start;

  TraceFormat(String title, Start start) {
    this.title = title;
    this.start = start;
  }

  /** Which moment of the trace is 0 in the simulation. */
  enum Start {
    ZERO,
    FIRST
  }

  Start start() {
    return start;
  }

  /** What the format is called on the command line. */
  public String title() {
    return title;
  }

  /** The format of that title. */
  public static TraceFormat titled(String title) {
    for (var format : values()) {
      if (format.title.equals(title)) return format;
    }
    var near = Nearest.to(title, titles());
    throw new IllegalArgumentException(
        "no trace format is called '"
            + title
            + "'; "
            + near.map(word -> "did you mean '" + word + "'?")
                .orElse("there are " + String.join(", ", titles())));
  }

  public static List<String> titles() {
    return Arrays.stream(values()).map(TraceFormat::title).toList();
  }

  /** Judges by the first line, which stays to be read. */
  static TraceFormat recognise(Lines lines) {
    if (!lines.next()) throw lines.error("the file is empty", "name a file that holds a trace");
    lines.hold();
    var first = lines.first();
    return first != null && first == '{' ? byFields(lines) : byColumns(lines);
  }

  /** Goes by tokens, since building a tree would take longer than reading a small trace. */
  private static TraceFormat byFields(Lines lines) {
    TraceFormat found = null;
    try (var parser = JsonRows.parser(lines)) {
      for (var token = parser.nextToken(); token != null; token = parser.nextToken()) {
        if (token != JsonToken.PROPERTY_NAME) continue;
        int depth = parser.streamReadContext().getNestingDepth();
        if (found == null && depth <= 2) found = byField(parser, depth);
      }
    } catch (JacksonException _) {
      throw JsonRows.noObject(lines);
    }
    if (found == null) throw unknown(lines);
    return found;
  }

  private static @Nullable TraceFormat byField(JsonParser parser, int depth) {
    var field = parser.currentName();
    if (depth == 1 && (field.equals("input_length") || field.equals("output_length"))) {
      return MOONCAKE;
    }
    if (!field.equals("schema") || parser.nextToken() != JsonToken.VALUE_STRING) return null;
    return switch (parser.getString()) {
      case CaptureReader.SCHEMA, CaptureReader.DEPLOYMENT -> KVASIR;
      case DynamoReader.SCHEMA -> DYNAMO;
      default -> null;
    };
  }

  private static TraceFormat byColumns(Lines lines) {
    var columns = CsvRows.split(lines);
    if (hasAny(columns, "ContextTokens", "GeneratedTokens")) return AZURE;
    if (hasAny(columns, "Request tokens", "Response tokens")) return BURSTGPT;
    if (hasAny(columns, "num_prefill_tokens", "num_decode_tokens")) return VIDUR;
    if (hasAny(columns, "arrival_time_us", "server_input_tokens")) return BLIS;
    throw unknown(lines);
  }

  /** One of the two is enough, so that the lack of the other is told. */
  private static boolean hasAny(List<String> columns, String one, String other) {
    return columns.contains(one) || columns.contains(other);
  }

  private static TraceError unknown(Lines lines) {
    return lines.error(
        "no known trace begins with: " + lines.glimpse(),
        "name its format (--trace-format " + String.join("|", titles()) + ")");
  }
}
