package dev.kvasir.sim.trace;

import dev.kvasir.Nullable;
import dev.kvasir.spec.Nearest;
import java.util.Arrays;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * The formats of traces that can be read: a line for each.
 *
 * <p>A format is recognised by its first line: an object of JSON by a field or by its schema, a
 * table by the name of a column. One mark is enough, so that the lack of another is reported by the
 * reader.
 */
public enum TraceFormat {
  MOONCAKE(
      "mooncake",
      Start.ZERO,
      Kind.FIELD,
      (lines, _, options) -> new MooncakeReader(lines, options),
      "input_length",
      "output_length"),
  AZURE(
      "azure",
      Start.FIRST,
      Kind.COLUMN,
      (lines, _, _) -> new AzureReader(lines),
      "ContextTokens",
      "GeneratedTokens"),
  BURSTGPT(
      "burstgpt",
      Start.ZERO,
      Kind.COLUMN,
      (lines, _, _) -> TableReader.burstGpt(lines),
      "Request tokens",
      "Response tokens"),
  VIDUR(
      "vidur",
      Start.ZERO,
      Kind.COLUMN,
      (lines, _, _) -> TableReader.vidur(lines),
      "num_prefill_tokens",
      "num_decode_tokens"),
  BLIS(
      "blis",
      Start.ZERO,
      Kind.COLUMN,
      (lines, header, _) -> new BlisReader(lines, BlisHeader.of(header)),
      "arrival_time_us",
      "server_input_tokens"),
  KVASIR(
      "kvasir",
      Start.FIRST,
      Kind.SCHEMA,
      (lines, _, _) -> new CaptureReader(lines),
      CaptureReader.SCHEMA,
      CaptureReader.DEPLOYMENT,
      CaptureReader.SETTINGS),
  DYNAMO(
      "dynamo",
      Start.FIRST,
      Kind.SCHEMA,
      (lines, _, _) -> new DynamoReader(lines),
      DynamoReader.SCHEMA);

  private final String title;
  private final Start start;
  private final Kind kind;

  @SuppressWarnings("ImmutableEnumChecker") // It keeps nothing.
  private final Opening opening;

  @SuppressWarnings("ImmutableEnumChecker") // It is made by List.of.
  private final List<String> marks;

  TraceFormat(String title, Start start, Kind kind, Opening opening, String... marks) {
    this.title = title;
    this.start = start;
    this.kind = kind;
    this.opening = opening;
    this.marks = List.of(marks);
  }

  /** Moment of the trace that is 0 in the simulation. */
  enum Start {
    ZERO,
    FIRST
  }

  /** Feature by which a format is recognised. */
  private enum Kind {
    FIELD,
    SCHEMA,
    COLUMN
  }

  /** Makes the reader of a format; the header is null where there is none. */
  private interface Opening {
    RowReader reader(TraceLines lines, @Nullable TraceInput header, TraceOptions options);
  }

  /** The reader of this format. */
  RowReader reader(TraceLines lines, @Nullable TraceInput header, TraceOptions options) {
    return opening.reader(lines, header, options);
  }

  Start start() {
    return start;
  }

  /** Returns the name of the format on the command line. */
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

  /** Decides by the first line, and leaves it unread. */
  static TraceFormat recognise(TraceLines lines) {
    if (!lines.next()) throw lines.error("the file is empty", "name a file that holds a trace");
    lines.hold();
    var first = lines.first();
    return first != null && first == '{' ? byFields(lines) : byColumns(lines);
  }

  /** Goes by tokens, since building a tree would take longer than reading a small trace. */
  private static TraceFormat byFields(TraceLines lines) {
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
    var plain = depth == 1 ? marked(Kind.FIELD, List.of(field)) : null;
    if (plain != null) return plain;
    if (!field.equals("schema") || parser.nextToken() != JsonToken.VALUE_STRING) return null;
    return marked(Kind.SCHEMA, List.of(parser.getString()));
  }

  private static TraceFormat byColumns(TraceLines lines) {
    var found = marked(Kind.COLUMN, CsvRows.split(lines));
    if (found == null) throw unknown(lines);
    return found;
  }

  /** The first format that has one of these words for a mark. */
  private static @Nullable TraceFormat marked(Kind kind, List<String> words) {
    for (var format : values()) {
      if (format.kind == kind && format.marks.stream().anyMatch(words::contains)) return format;
    }
    return null;
  }

  private static TraceError unknown(TraceLines lines) {
    return lines.error(
        "no known trace begins with: " + lines.glimpse(),
        "name its format (--trace-format " + String.join("|", titles()) + ")");
  }
}
