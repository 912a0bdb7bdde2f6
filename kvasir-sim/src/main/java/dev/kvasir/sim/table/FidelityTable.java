package dev.kvasir.sim.table;

import dev.kvasir.sim.report.Fidelity;
import dev.kvasir.sim.report.Quantiles;
import java.io.IOException;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Reports how well a simulation predicted a capture. */
public final class FidelityTable {
  private static final JsonMapper LINES = new JsonMapper();
  private static final JsonMapper JSON =
      JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

  private FidelityTable() {}

  /** For a terminal. */
  public static String of(Fidelity fidelity) {
    var text = new FigureText();
    text.line(
        "compared",
        "the times of %,d requests, what was cached of %,d\n",
        fidelity.compared().size(),
        fidelity.pairs().size());
    text.add("ms            measured   predicted     error\n");
    time(text, "TTFT", fidelity.ttft());
    time(text, "E2E", fidelity.e2e());
    double measured = 100 * fidelity.measuredHitRate();
    double predicted = 100 * fidelity.predictedHitRate();
    double points = predicted - measured;
    text.add("\ncached %%  %,11.2f%,12.2f%+10.2f points\n", measured, predicted, points);
    text.add(
        "half of these requests are within %.1f %% of their TTFT and %.1f %% of their E2E\n",
        100 * fidelity.ttft().offP50(), 100 * fidelity.e2e().offP50());
    return text.toString();
  }

  private static void time(FigureText text, String name, Fidelity.Time time) {
    for (int percent : new int[] {50, 90}) {
      row(
          text,
          name + " p" + percent,
          time.measured().percentileMicros(percent),
          time.predicted().percentileMicros(percent));
    }
    row(text, name + " mean", time.measured().meanMicros(), time.predicted().meanMicros());
  }

  private static void row(FigureText text, String name, double measured, double predicted) {
    text.add(
        "%-10s%,12.1f%,12.1f%+8.1f %%\n",
        name, measured / 1000, predicted / 1000, 100 * Fidelity.error(measured, predicted));
  }

  /** For programs. */
  public static String json(Fidelity fidelity) {
    var node = JSON.createObjectNode();
    node.put("requests", fidelity.pairs().size());
    time(node.putObject("ttft"), fidelity.ttft());
    time(node.putObject("e2e"), fidelity.e2e());
    node.putObject("hit_rate")
        .put("measured", fidelity.measuredHitRate())
        .put("predicted", fidelity.predictedHitRate());
    return JSON.writeValueAsString(node);
  }

  private static void time(ObjectNode node, Fidelity.Time time) {
    node.put("requests", time.requests());
    figures(node.putObject("measured_ms"), time.measured());
    figures(node.putObject("predicted_ms"), time.predicted());
    node.put("median_error", time.medianError());
    node.put("request_error_p50", time.offP50());
  }

  private static void figures(ObjectNode node, Quantiles figures) {
    node.put("p50", figures.percentileMicros(50) / 1000);
    node.put("p90", figures.percentileMicros(90) / 1000);
    node.put("mean", figures.meanMicros() / 1000);
  }

  /** Each request, one JSON object a line. */
  public static void write(Fidelity fidelity, Appendable out) throws IOException {
    for (var pair : fidelity.pairs()) {
      out.append(LINES.writeValueAsString(line(pair))).append('\n');
    }
  }

  private static ObjectNode line(Fidelity.Pair pair) {
    var request = pair.measured().request();
    var line = LINES.createObjectNode();
    line.put("request_id", request.id());
    line.put("arrival_us", request.arrivalNanos() / 1000);
    line.put("input_tokens", request.promptTokens());
    line.put("output_tokens", request.outputTokens());
    line.putObject("measured")
        .put("instance", pair.measured().instance())
        .put("ttft_us", pair.measuredTtft())
        .put("e2e_us", pair.measuredE2e())
        .put("cached_tokens", pair.measured().cachedTokens());
    line.putObject("predicted")
        .put("instance", "instance_" + pair.predicted().instance())
        .put("ttft_us", pair.predicted().ttftMicros())
        .put("e2e_us", pair.predicted().e2eMicros())
        .put("cached_tokens", pair.predicted().cachedTokens());
    return line;
  }
}
