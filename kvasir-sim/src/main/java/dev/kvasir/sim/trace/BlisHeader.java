package dev.kvasir.sim.trace;

import dev.kvasir.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/**
 * Information that the header of a BLIS TraceV2 gives about its rows.
 *
 * @param unitNanos the unit of all times
 * @param accumulates whether the rows of a session say only what they add to it
 */
record BlisHeader(long unitNanos, boolean accumulates) {
  /** For rows that come without a header. */
  static final BlisHeader USUAL = new BlisHeader(1000, false);

  /** Reads a header; the input is null for rows without one. */
  static BlisHeader of(@Nullable TraceInput input) {
    return input == null ? USUAL : read(input);
  }

  private static BlisHeader read(TraceInput input) {
    JsonNode header;
    try {
      header = YAMLMapper.builder().build().readTree(input.bytes());
    } catch (JacksonException wrong) {
      throw error(input, "the header cannot be read: " + wrong.getOriginalMessage());
    }
    var version = text(header, "trace_version", "missing");
    if (!version.equals("2") && !version.equals("3")) {
      throw error(input, "trace_version is " + version);
    }
    return new BlisHeader(unit(input, header), accumulates(input, header));
  }

  private static String text(JsonNode header, String key, String otherwise) {
    return header.path(key).asString(otherwise);
  }

  private static long unit(TraceInput input, JsonNode header) {
    var unit = text(header, "time_unit", "us");
    return switch (unit) {
      case "us", "microseconds" -> 1000;
      default -> throw error(input, "time_unit is '" + unit + "'");
    };
  }

  private static boolean accumulates(TraceInput input, JsonNode header) {
    var growth = text(header, "session_context_growth", "");
    return switch (growth) {
      case "" -> false;
      case "accumulate" -> true;
      default -> throw error(input, "session_context_growth is '" + growth + "'");
    };
  }

  private static TraceError error(TraceInput input, String problem) {
    return new TraceError(
        input.name(),
        0,
        problem,
        "a TraceV2 header has trace_version 2 or 3, time_unit us and, for sessions whose rows add"
            + " to each other, session_context_growth accumulate");
  }
}
