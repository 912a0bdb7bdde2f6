package dev.kvasir.cli.simulate;

import dev.kvasir.Nullable;
import dev.kvasir.cli.config.KeyPaths;
import dev.kvasir.cli.settings.Deployment;
import dev.kvasir.cli.settings.EngineGroups;
import dev.kvasir.kv.evict.EvictionKind;
import dev.kvasir.router.pick.PickPolicy;
import dev.kvasir.router.placement.PlacementPolicy;
import dev.kvasir.sim.trace.TraceFormat;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * An option of {@code simulate} that stands for a key of the deployment.
 *
 * @param name without its dashes
 * @param label what is given; empty for a flag
 * @param path the key
 * @param more the unit of a plain number, or what a flag stands for
 * @param text what it is
 */
record KeyOption(
    Section section, String name, String label, String path, String more, String text) {
  private static final Pattern NUMBER = Pattern.compile("[\\d.]+");
  private static final Pattern GROUP =
      Pattern.compile("^" + Pattern.quote(EngineGroups.PATH) + "\\.[^.\\[]+\\.");

  /** Sections of the help. */
  enum Section {
    ASKED("Requests"),
    DEPLOYMENT("Deployment"),
    HARDWARE("Model and GPU"),
    TARGETS("Targets");

    private final String heading;

    Section(String heading) {
      this.heading = heading;
    }
  }

  /** All of them, as help shows them. */
  static final List<KeyOption> ALL =
      List.of(
          request(
              "requests",
              "N",
              "simulation.requests-max",
              "",
              "Take at most N requests (default: all)."),
          request("load", "X", "simulation.load", "", "Multiply the request rate by X."),
          request("seed", "N", "simulation.seed", "", "Seed of all random numbers (default: 42)."),
          request("sort", "", "simulation.order", "sorted", "Sort a trace by arrival first."),
          request(
              "trace-format",
              "NAME",
              "simulation.format",
              "",
              "The format of the trace: " + names() + " (default: recognised)."),
          request(
              "requests-only",
              "",
              "simulation.captured",
              "requests",
              "Ignore the settings stored in a capture."),
          deployment("instances", "N", "engines.count", "Engines (default: 1; with a file 2)."),
          deployment("prefill-instances", "N", "engines.prefill", "Engines that only prefill."),
          deployment("decode-instances", "N", "engines.decode", "Engines that only decode."),
          deployment("routing", "NAME", "routing.policy", "Which engine answers: {}."),
          deployment(
              "placement",
              "NAME",
              "routing.placement",
              "Where a prompt is prefilled: {} (default: predictive if engines can hand over,"
                  + " else never)."),
          deployment("block-size", "N", "engines.block-size", "Tokens of a block."),
          deployment(
              "total-kv-blocks",
              "N",
              "engines.total-kv-blocks",
              "KV blocks of an engine (default: what the GPU has room for)."),
          deployment("eviction", "NAME", "engines.eviction", "Eviction policy: {}."),
          deployment(
              "host-blocks", "N", "tiers.host.blocks", "KV blocks in host memory (default: none)."),
          deployment("disk-blocks", "N", "tiers.disk.blocks", "KV blocks on disk (default: none)."),
          deployment(
              "transfer-model",
              "NAME",
              "simulation.transfers",
              "event: transfers run while steps run; step: they lengthen the step that needs"
                  + " them."),
          hardware("hardware", "GPU", "hardware.gpu", "The GPU of an engine (default: H100)."),
          hardware("tp", "N", "hardware.tp", "GPUs that share every layer."),
          hardware(
              "model-config",
              "PATH",
              "hardware.model-config",
              "The model's config.json, or its folder (default: Llama 3.1 8B)."),
          hardware(
              "latency-model",
              "NAME",
              "hardware.latency-model",
              "How long a step takes: linear, roofline or trained-physics."),
          hardware(
              "profile", "FILE", "hardware.profile", "Latency profile from 'kvasir calibrate'."),
          target("slo-ttft", "slo.ttft", "Target for the first token (default: none)."),
          target("slo-itl", "slo.itl", "Target for the time between tokens (default: none)."),
          target("slo-e2e", "slo.e2e", "Target for the whole answer (default: none)."));

  private static KeyOption request(
      String name, String label, String path, String more, String text) {
    return new KeyOption(Section.ASKED, name, label, path, more, text);
  }

  private static KeyOption deployment(String name, String label, String path, String text) {
    return new KeyOption(
        Section.DEPLOYMENT, name, label, path, "", text.replace("{}", choices(path)));
  }

  private static KeyOption hardware(String name, String label, String path, String text) {
    return new KeyOption(Section.HARDWARE, name, label, path, "", text);
  }

  private static KeyOption target(String name, String path, String text) {
    return new KeyOption(Section.TARGETS, name, "MS", path, "ms", text);
  }

  private static String names() {
    return String.join(", ", TraceFormat.titles());
  }

  boolean isFlag() {
    return label.isEmpty();
  }

  /** Returns the given value as the key takes it. */
  String value(String given) {
    if (isFlag()) return more;
    return NUMBER.matcher(given).matches() ? given + more : given;
  }

  static Optional<KeyOption> named(String name) {
    return ALL.stream().filter(each -> each.name.equals(name)).findFirst();
  }

  /** Adds all of them to a command, under their headings. */
  static void addTo(CommandSpec command) {
    var defaults = defaults();
    Map<Section, CommandSpec> parts = new LinkedHashMap<>();
    for (var option : ALL) {
      parts.computeIfAbsent(option.section, KeyOption::part).addOption(option.spec(defaults));
    }
    var all = CommandSpec.create();
    parts.forEach((section, part) -> all.addMixin(section.name(), part));
    command.addMixin("keys", all);
  }

  private static CommandSpec part(Section section) {
    var part = CommandSpec.create();
    part.usageMessage().optionListHeading("%n" + section.heading + ":%n");
    return part;
  }

  private static Map<String, String> defaults() {
    var defaults = new LinkedHashMap<String, String>();
    for (var key : KeyPaths.of(Deployment.ONE_GPU)) defaults.put(key.path(), key.usual());
    return defaults;
  }

  private OptionSpec spec(Map<String, String> defaults) {
    var usual = defaults.getOrDefault(path, "");
    boolean isComplete = isFlag() || usual.isEmpty() || text.contains("(default");
    var about =
        text.substring(0, text.length() - 1) + (isComplete ? "." : " (default: " + usual + ").");
    var spec = OptionSpec.builder("--" + name).description(about);
    return isFlag()
        ? spec.type(boolean.class).arity("0").build()
        : spec.type(String.class).paramLabel(label).arity("1").build();
  }

  /** The key that an option or a path stands for; null where there is none. */
  static @Nullable String pathOf(String written) {
    var option = named(written);
    if (option.isPresent()) return option.get().path;
    // The keys of a group are known by the group's place.
    var known = GROUP.matcher(written).replaceFirst(EngineGroups.PATH + "[].");
    for (var key : KeyPaths.of(Deployment.DEFAULT)) if (key.path().equals(known)) return written;
    return null;
  }

  /** The words that a key may have, from the registry of each. */
  private static String choices(String path) {
    var words =
        switch (path) {
          case "routing.policy" -> PickPolicy.NAMES;
          case "routing.placement" -> PlacementPolicy.NAMES;
          case "engines.eviction" ->
              Arrays.stream(EvictionKind.values())
                  .map(kind -> kind.title() + " (" + kind.description() + ")")
                  .toList();
          default -> List.<String>of();
        };
    return String.join(", ", words);
  }
}
