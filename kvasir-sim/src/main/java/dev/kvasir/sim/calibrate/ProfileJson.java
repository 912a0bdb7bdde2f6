package dev.kvasir.sim.calibrate;

import dev.kvasir.sim.calibrate.Profile.Origin;
import dev.kvasir.sim.calibrate.Profile.Source;
import java.io.Reader;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Profiles as JSON, each with the version of its schema. */
public final class ProfileJson {
  private static final String SCHEMA = "kvasir.profile.v1";
  private static final int OTHERS_MAX = 64;
  private static final double DIGITS = 1e6;
  private static final JsonMapper JSON =
      JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

  private ProfileJson() {}

  public static String write(Profile profile) {
    var node = JSON.createObjectNode();
    node.put("schema", SCHEMA);
    node.put("name", profile.name());
    var origin = profile.origin();
    node.putObject("origin")
        .put("engine", origin.engine())
        .put("model", origin.model())
        .put("gpu", origin.gpu())
        .put("gpus", origin.gpus());
    var limits = profile.limits();
    node.putObject("limits")
        .put("max_num_seqs", limits.sequencesMax())
        .put("max_num_batched_tokens", limits.stepTokensMax())
        .put("total_kv_blocks", limits.blocks())
        .put("block_size", limits.blockTokens());
    node.put("calls", profile.calls());
    var times = node.putObject("times");
    for (var each : Parameter.values()) {
      times.put(each.label(), round(profile.values().get(each.index())));
    }
    var others = node.putArray("others");
    for (var each : profile.others()) {
      var row = others.addArray();
      each.forEach(value -> row.add(round(value)));
    }
    var captures = node.putArray("captures");
    for (var each : profile.captures()) {
      captures
          .addObject()
          .put("name", each.name())
          .put("sha256", each.sha256())
          .put("requests", each.requests())
          .put("ttft_p50_error", round(each.ttftOff()))
          .put("e2e_p50_error", round(each.e2eOff()));
    }
    return JSON.writeValueAsString(node) + "\n";
  }

  private static double round(double value) {
    return Math.rint(value * DIGITS) / DIGITS;
  }

  /** Reads a profile; the source is named in errors. */
  public static Profile read(Reader reader, String source) {
    try {
      if (!(JSON.readTree(reader) instanceof ObjectNode node)) {
        throw wrong(source, "no JSON object");
      }
      var schema = node.path("schema").asString("");
      if (!schema.equals(SCHEMA)) {
        throw wrong(source, "schema is '" + schema + "', and only " + SCHEMA + " can be read");
      }
      return profile(node);
    } catch (JacksonException e) {
      throw wrong(source, "not JSON: " + e.getOriginalMessage());
    } catch (IllegalArgumentException e) {
      throw wrong(source, String.valueOf(e.getMessage()));
    }
  }

  private static CalibrationError wrong(String source, String what) {
    return new CalibrationError(source + ": " + what + "; write it anew with kvasir calibrate");
  }

  private static Profile profile(ObjectNode node) {
    var origin = node.path("origin");
    var limits = node.path("limits");
    var values = new ArrayList<Double>();
    for (var each : Parameter.values()) {
      var value = node.path("times").path(each.label());
      if (!value.isNumber()) throw new IllegalArgumentException("times has no " + each.label());
      values.add(value.asDouble());
    }
    return new Profile(
        node.path("name").asString(""),
        new Origin(
            origin.path("engine").asString(""),
            origin.path("model").asString(""),
            origin.path("gpu").asString(""),
            origin.path("gpus").asInt(1)),
        new Limits(
            limits.path("max_num_seqs").asInt(0),
            limits.path("max_num_batched_tokens").asInt(0),
            limits.path("total_kv_blocks").asInt(0),
            limits.path("block_size").asInt(0)),
        node.path("calls").asInt(1),
        values,
        others(node.path("others")),
        captures(node.path("captures")));
  }

  private static List<List<Double>> others(JsonNode rows) {
    var others = new ArrayList<List<Double>>();
    if (!(rows instanceof ArrayNode)) return others;
    if (rows.size() > OTHERS_MAX) {
      throw new IllegalArgumentException(rows.size() + " others, more than " + OTHERS_MAX);
    }
    for (var row : rows) {
      var values = new ArrayList<Double>();
      for (var value : row) values.add(value.asDouble(-1));
      others.add(values);
    }
    return others;
  }

  private static List<Source> captures(JsonNode rows) {
    var captures = new ArrayList<Source>();
    for (var row : rows) {
      captures.add(
          new Source(
              row.path("name").asString(""),
              row.path("sha256").asString(""),
              row.path("requests").asInt(0),
              row.path("ttft_p50_error").asDouble(0),
              row.path("e2e_p50_error").asDouble(0)));
    }
    return captures;
  }
}
