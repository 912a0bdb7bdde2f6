package dev.kvasir.cli.simulate;

import dev.kvasir.cli.config.YamlFile;
import dev.kvasir.spec.Section;
import dev.kvasir.spec.Written;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** The policies of BLIS as it has them in a file, under the keys of a deployment. */
final class PolicyFile {
  /** A key of BLIS, and the one that it stands for. */
  private static final List<List<String>> ADMISSION =
      List.of(
          List.of("policy", "policy"),
          List.of("tier_shed_threshold", "shed-threshold"),
          List.of("tier_shed_min_priority", "shed-priority"),
          List.of("token_bucket_capacity", "bucket-capacity"),
          List.of("token_bucket_refill_rate", "bucket-rate"));

  private final Written.Origin origin;
  private Written.Keys keys;

  private PolicyFile(String name) {
    this.origin = Written.Origin.of(name);
    this.keys = Written.Keys.none(origin);
  }

  static Written.Keys read(Path file) throws IOException {
    var policies = new PolicyFile(file.toString());
    Section.of("", YamlFile.read(file)).as(policies::all);
    return policies.keys;
  }

  private PolicyFile all(Section file) {
    file.sectionIfAny("admission", this::admission);
    file.sectionIfAny("routing", this::routing);
    put("engines.scheduler", CompatNames.scheduler(policy(file, "scheduler")));
    put("engines.preemption", CompatNames.preemption(policy(file, "preemption")));
    return this;
  }

  private PolicyFile admission(Section section) {
    for (var each : ADMISSION) {
      put("limits.admission." + each.getLast(), section.text(each.getFirst(), ""));
    }
    return this;
  }

  private PolicyFile routing(Section section) {
    put("routing.policy", section.text("policy", ""));
    if (section.has("scorers")) {
      List<String> named =
          section.sections("scorers", each -> each.text("name") + ":" + each.number("weight"));
      put("routing.scorers", String.join(",", named));
    }
    return this;
  }

  /** A name, alone or as the policy of a section. */
  private static String policy(Section file, String key) {
    if (!file.hasSection(key)) return file.text(key, "");
    return file.section(key).as(section -> section.text("policy"));
  }

  private void put(String path, String value) {
    if (!value.isEmpty()) keys = keys.with(path, new Written.Text(value, origin));
  }
}
