package dev.kvasir.cli.simulate;

import dev.kvasir.Nullable;
import dev.kvasir.sim.spec.Section;
import java.util.List;

/**
 * Policies as a YAML file has them, for what a command line says otherwise.
 *
 * @param admission null where the file does not say
 */
record PolicyFile(
    @Nullable Section admission,
    String routing,
    String scorers,
    String scheduler,
    String preemption) {
  static final PolicyFile NONE = new PolicyFile(null, "", "", "", "");

  /** Who is admitted, and what decides it. */
  record Admission(
      String policy,
      int shedThreshold,
      int shedPriority,
      double bucketCapacity,
      double bucketRate) {}

  static PolicyFile read(Section file) {
    var admission = file.hasSection("admission") ? file.section("admission") : null;
    var routing = file.hasSection("routing") ? file.section("routing") : null;
    var named =
        new PolicyFile(
            admission,
            routing == null ? "" : routing.text("policy", ""),
            routing == null ? "" : scorers(routing),
            policy(file, "scheduler"),
            policy(file, "preemption"));
    if (routing != null) routing.done();
    return named;
  }

  private static String scorers(Section routing) {
    if (!routing.has("scorers")) return "";
    List<String> named =
        routing.sections("scorers", each -> each.text("name") + ":" + each.number("weight"));
    return String.join(",", named);
  }

  /** A name, alone or as the policy of a section. */
  private static String policy(Section file, String key) {
    if (!file.hasSection(key)) return file.text(key, "");
    return file.section(key).as(section -> section.text("policy"));
  }

  String routingOr(String said) {
    return routing.isEmpty() ? said : routing;
  }

  String scorersOr(String said) {
    return scorers.isEmpty() ? said : scorers;
  }

  String schedulerOr(String said) {
    return scheduler.isEmpty() ? said : scheduler;
  }

  String preemptionOr(String said) {
    return preemption.isEmpty() ? said : preemption;
  }

  Admission admissionOr(Admission said) {
    if (admission == null) return said;
    return admission.as(
        section ->
            new Admission(
                section.text("policy", said.policy),
                (int) section.whole("tier_shed_threshold", said.shedThreshold),
                (int) section.whole("tier_shed_min_priority", said.shedPriority),
                section.number("token_bucket_capacity", said.bucketCapacity),
                section.number("token_bucket_refill_rate", said.bucketRate)));
  }
}
