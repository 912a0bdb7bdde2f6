package dev.kvasir.sim.table;

import dev.kvasir.sim.report.BestPoint;
import dev.kvasir.sim.report.Comparison;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** A comparison as a JSON array, with the settings and the figures of each run. */
public final class ComparisonJson {
  private static final JsonMapper JSON =
      JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

  private ComparisonJson() {}

  public static String write(Comparison comparison) {
    var best = BestPoint.of(comparison);
    var array = JSON.createArrayNode();
    for (int i = 0; i < comparison.points().size(); i++) {
      var point = comparison.points().get(i);
      var node = array.addObject();
      var settings = node.putObject("settings");
      for (int key = 0; key < comparison.keys().size(); key++) {
        settings.put(comparison.keys().get(key), point.values().get(key));
      }
      node.set("summary", SummaryJson.node(point.summary()));
      cost(node.putObject("cost"), comparison, point);
      if (i == best.index()) node.put("best", best.reason());
    }
    return JSON.writeValueAsString(array);
  }

  private static void cost(ObjectNode node, Comparison comparison, Comparison.Point point) {
    node.put("gpus", point.fleet().gpus());
    node.put("gib_below_gpus", point.fleet().gibBelow());
    node.put("total", comparison.cost(point));
    node.put("unit", comparison.unit());
  }
}
