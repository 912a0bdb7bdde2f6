package dev.kvasir.sim;

import dev.kvasir.spec.Section;
import dev.kvasir.spec.Written;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import tools.jackson.databind.JsonNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** YAML of tests; where a value stands is not kept. */
public final class Yaml {
  private Yaml() {}

  public static Section section(String yaml) {
    return Section.of("", written(YAMLMapper.builder().build().readTree(yaml)));
  }

  private static Written written(JsonNode node) {
    var origin = Written.Origin.of("yaml");
    if (node.isObject()) {
      var values = new LinkedHashMap<String, Written>();
      node.properties().forEach(each -> values.put(each.getKey(), written(each.getValue())));
      return new Written.Keys(values, origin);
    }
    if (node.isArray()) {
      var values = new ArrayList<Written>();
      node.forEach(each -> values.add(written(each)));
      return new Written.Items(values, origin);
    }
    return node.isNull() ? new Written.Blank(origin) : new Written.Text(node.asString(), origin);
  }
}
