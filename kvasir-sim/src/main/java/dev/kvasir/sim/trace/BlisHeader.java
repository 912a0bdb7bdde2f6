package dev.kvasir.sim.trace;

import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/**
 * What the header of a BLIS TraceV2 says about its rows.
 *
 * @param unitNanos the unit of all times
 * @param accumulates whether the rows of a session say only what they add to it
 */
record BlisHeader(long unitNanos, boolean accumulates) {
  /** For rows that come without a header. */
  static final BlisHeader USUAL = new BlisHeader(1000, false);

  static BlisHeader read(TraceInput input) {
    JsonNode header;
    try {
      header = YAMLMapper.builder().build().readTree(input.bytes());
    } catch (JacksonException failure) {
      throw error(input, Math.max(0, failure.getLocation().getLineNr()), "this is no YAML");
    }
    if (!header.isObject()) throw error(input, 0, "this is no header");
    int version = header.path("trace_version").asInt(0);
    if (version != 2 && version != 3) {
      throw error(input, 0, "trace_version is " + header.path("trace_version").asString("missing"));
    }
    return new BlisHeader(unit(input, header), accumulates(input, header));
  }

  private static long unit(TraceInput input, JsonNode header) {
    var unit = header.path("time_unit").asString("us");
    return switch (unit) {
      case "us", "microseconds" -> 1000;
      default -> throw error(input, 0, "time_unit is '" + unit + "'");
    };
  }

  private static boolean accumulates(TraceInput input, JsonNode header) {
    var growth = header.path("session_context_growth").asString("");
    return switch (growth) {
      case "" -> false;
      case "accumulate" -> true;
      default -> throw error(input, 0, "session_context_growth is '" + growth + "'");
    };
  }

  private static TraceError error(TraceInput input, long line, String problem) {
    return new TraceError(
        input.name(),
        line,
        problem,
        "a TraceV2 header has trace_version 2 or 3, time_unit us and, for sessions whose rows add"
            + " to each other, session_context_growth accumulate");
  }
}
