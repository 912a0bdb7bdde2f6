package dev.kvasir.sim.trace;

import dev.kvasir.sim.spec.Nearest;
import java.util.Arrays;
import java.util.List;
import tools.jackson.databind.JsonNode;

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

  private static TraceFormat byFields(Lines lines) {
    var object = JsonRows.parse(lines);
    if (schema(object).equals(CaptureReader.SCHEMA)) return KVASIR;
    if (schema(object).equals(DynamoReader.SCHEMA)) return DYNAMO;
    if (schema(object.path("event")).equals(DynamoReader.SCHEMA)) return DYNAMO;
    if (object.has("input_length") || object.has("output_length")) return MOONCAKE;
    throw unknown(lines);
  }

  private static String schema(JsonNode object) {
    return object.path("schema").asString("");
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
