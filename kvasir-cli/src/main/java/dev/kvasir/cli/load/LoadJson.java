package dev.kvasir.cli.load;

import dev.kvasir.tools.load.LoadReport;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** The report of a load as JSON, its figures named as those of a simulation are. */
final class LoadJson {
  private static final JsonMapper JSON =
      JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

  private LoadJson() {}

  static String write(LoadReport report) {
    var node = JSON.createObjectNode();
    node.put("sent_requests", report.sent());
    node.put("completed_requests", report.completed());
    node.put("failed_requests", report.failed());
    node.put("unfinished_requests", report.unfinished());
    node.put("duration_s", report.seconds());
    node.put("responses_per_sec", report.perSecond(report.completed()));
    node.put("tokens_per_sec", report.perSecond(report.tokens().output()));
    node.put("total_input_tokens", report.tokens().prompt());
    node.put("total_output_tokens", report.tokens().output());
    node.put("total_cached_tokens", report.tokens().cached());
    spread(node, "ttft", report.ttftMillis());
    spread(node, "tpot", report.tpotMillis());
    spread(node, "itl", report.itlMillis());
    spread(node, "e2e", report.e2eMillis());
    spread(node, "sent_late", report.lateMillis());
    node.put("goodput_rps", report.perSecond(report.good()));
    node.put("slo_attainment", report.attainment());
    var failures = node.putArray("failures");
    for (var failure : report.failures()) {
      var object = failures.addObject();
      object.put("kind", failure.kind());
      object.put("count", failure.count());
      object.put("example", failure.example());
    }
    return JSON.writeValueAsString(node);
  }

  private static void spread(ObjectNode node, String name, LoadReport.Spread spread) {
    node.put(name + "_mean_ms", spread.mean());
    node.put(name + "_p50_ms", spread.p50());
    node.put(name + "_p90_ms", spread.p90());
    node.put(name + "_p99_ms", spread.p99());
    node.put(name + "_max_ms", spread.max());
  }
}
