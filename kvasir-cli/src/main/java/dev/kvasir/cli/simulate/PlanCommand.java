package dev.kvasir.cli.simulate;

import dev.kvasir.Nullable;
import dev.kvasir.cli.process.ExitCode;
import dev.kvasir.cli.process.OutputFile;
import dev.kvasir.cli.process.UserErrors;
import dev.kvasir.cli.settings.EngineGroups;
import dev.kvasir.sim.clock.ParallelTasks;
import dev.kvasir.sim.page.ComparisonPage;
import dev.kvasir.sim.plan.CheapestSearch;
import dev.kvasir.sim.plan.CheapestSearch.Alternative;
import dev.kvasir.sim.plan.CheapestSearch.Trial;
import dev.kvasir.sim.plan.CheapestSearch.Verdict;
import dev.kvasir.sim.report.Comparison;
import dev.kvasir.sim.report.Goodput;
import dev.kvasir.sim.table.ComparisonJson;
import dev.kvasir.sim.table.ComparisonTable;
import dev.kvasir.spec.Written;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Finds the cheapest deployment that keeps the targets. */
@Command(
    name = "plan",
    customSynopsis = "kvasir plan (--trace FILE | --workload FILE) --slo-ttft MS [OPTIONS]",
    description = {
      "Find the cheapest deployment that keeps the targets: how many engines, on which GPU, with"
          + " which tiers and policies.",
      "Each GPU of --gpus with each combination of --sweep is an alternative; of each, the fewest"
          + " engines are found. Alternatives that cannot come first or second are not run."
    },
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  kvasir plan --trace traffic.jsonl --slo-ttft 500 --gpus H100=2.49,H200=3.79",
      "  kvasir plan --config kvasir.yaml --trace traffic.jsonl --slo-ttft 500"
          + " --sweep tiers.host.size=1GiB,64GiB --report plan.html"
    })
public final class PlanCommand implements Callable<Integer> {
  private static final List<String> NOT_HERE =
      List.of(
          "--validate",
          "--requests-out",
          "--cache-only",
          "--hint-oracle",
          "--compat",
          "--instances",
          "--shard");
  private static final double HOUR_SECONDS = 3600;

  private final PrintWriter out;
  private final PrintWriter err;
  private final Map<String, String> environment;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private SimulateOptions options = new SimulateOptions();

  @Option(
      names = "--gpus",
      paramLabel = "GPU=PRICE,…",
      description =
          "GPUs to choose from, each with its price for an hour (default: the GPU of the"
              + " deployment).")
  private @Nullable String gpus;

  @Option(
      names = "--group",
      paramLabel = "NAME",
      description = "The group of engines.groups to size; sweep the counts of the other groups.")
  private @Nullable String group;

  @Option(
      names = "--engines-max",
      paramLabel = "N",
      description = "At most N engines (default: ${DEFAULT-VALUE}).")
  private int enginesMax = 64;

  @Option(
      names = "--runs",
      paramLabel = "N",
      description = "Simulate at most N times (default: ${DEFAULT-VALUE}).")
  private int runsMax = 200;

  private PlanCommand(PrintWriter out, PrintWriter err, Map<String, String> environment) {
    this.out = out;
    this.err = err;
    this.environment = environment;
  }

  /** The command with all its options. */
  public static CommandLine line(
      PrintWriter out, PrintWriter err, Map<String, String> environment) {
    var line = new CommandLine(new PlanCommand(out, err, environment));
    var command = line.getCommandSpec();
    KeyOption.addTo(command);
    for (var name : NOT_HERE) command.remove(command.findOption(name));
    return line;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    return UserErrors.caught(err, "plan", this::run);
  }

  private int run() throws IOException {
    OutputFile.require(options.report, options.requestsOut);
    var requested = Plan.of(options, spec.commandLine().getParseResult(), environment, err);
    requireTargets(requested);
    var kinds = kinds(requested);
    var plan = requested.varying(dimensions(requested, kinds));
    var settings = settings(requested, kinds);
    var sweep = new Sweep(plan, options, err);
    var search = new CheapestSearch(alternatives(plan, settings), enginesMax, runsMax);
    double attainment = plan.deployment().slo().attainment();
    var tried = new LinkedHashMap<Trial, Comparison.Point>();
    for (var round = search.next(); !round.isEmpty(); round = search.next()) {
      var made = sweep.points(round.stream().map(trial -> values(settings, trial)).toList());
      for (int i = 0; i < made.size(); i++) {
        boolean keeps = made.get(i).summary().goodput().attainment() >= attainment;
        search.tried(round.get(i), keeps ? Verdict.KEEPS : Verdict.FAILS);
        tried.put(round.get(i), made.get(i));
      }
    }
    var comparison = sweep.comparison(List.copyOf(tried.values()));
    write(plan, comparison, advice(search, comparison, tried));
    return search.ranking().isEmpty() ? ExitCode.UNAVAILABLE : ExitCode.OK;
  }

  /** The key of the engines that are counted. */
  private String enginesKey() {
    return group == null ? "engines.count" : groupKey("count");
  }

  private String gpuKey() {
    return group == null ? "hardware.gpu" : groupKey("gpu");
  }

  private String priceKey() {
    return group == null ? "cost.gpu-hour" : groupKey("gpu-hour");
  }

  private String groupKey(String key) {
    return EngineGroups.PATH + "." + group + "." + key;
  }

  private void requireGroup(Plan requested) {
    var names = requested.deployment().engines().groups().names();
    if (group == null && !names.isEmpty()) {
      throw new IllegalArgumentException(
          "there are groups of engines: name one of %s with --group".formatted(names));
    }
    if (group != null && !names.contains(group)) {
      throw new IllegalArgumentException(
          "--group %s, and the groups of engines are %s".formatted(group, names));
    }
  }

  private void requireTargets(Plan requested) {
    requireGroup(requested);
    if (requested.deployment().slo().targets().equals(Goodput.Targets.NONE)) {
      throw new IllegalArgumentException(
          "there is no latency target; give --slo-ttft, --slo-itl or --slo-e2e");
    }
    if (requested.dimensions().stream().anyMatch(each -> each.path().equals(enginesKey()))) {
      throw new IllegalArgumentException(
          "plan searches for the number of engines; remove %s from %s"
              .formatted(enginesKey(), sweep(requested)));
    }
  }

  /** The place in which the sweep of the engines is written. */
  private String sweep(Plan requested) {
    return requested.dimensions().stream()
        .filter(each -> each.path().equals(enginesKey()))
        .map(each -> each.values().getFirst().origin().place())
        .map(place -> place.startsWith("--") ? "--sweep" : "the sweep in " + place)
        .findFirst()
        .orElseThrow();
  }

  /** A GPU and its price, as they are written. */
  private record Kind(String gpu, String price) {}

  private List<Kind> kinds(Plan requested) {
    if (gpus == null) return List.of();
    if (requested.deployment().hardware().profile() != null) {
      throw new IllegalArgumentException(
          "a profile is of one GPU; omit --gpus, and set cost.gpu-hour");
    }
    var kinds = new ArrayList<Kind>();
    for (var each : gpus.split(",", -1)) {
      int equals = each.indexOf('=');
      if (equals < 1 || equals == each.length() - 1) {
        throw new IllegalArgumentException(
            "--gpus " + gpus + "; write GPUs with their prices, as in H100=2.49,H200=3.79");
      }
      kinds.add(new Kind(each.substring(0, equals), each.substring(equals + 1)));
    }
    return kinds;
  }

  /** The GPU and its price, what is swept, and the number of engines. */
  private List<Dimension> dimensions(Plan requested, List<Kind> kinds) {
    var all = new ArrayList<Dimension>();
    if (!kinds.isEmpty()) {
      all.add(
          Dimension.of(
              gpuKey(), kinds.stream().map(Kind::gpu).distinct().map(PlanCommand::text).toList()));
      all.add(
          Dimension.of(
              priceKey(),
              kinds.stream().map(Kind::price).distinct().map(PlanCommand::text).toList()));
    }
    all.addAll(requested.dimensions());
    all.add(Dimension.of(enginesKey(), List.of(text("1"))));
    return all;
  }

  /** Returns the settings of each alternative, without the number of engines. */
  private static List<List<Written.Text>> settings(Plan requested, List<Kind> kinds) {
    var settings = new ArrayList<List<Written.Text>>();
    for (var point : Dimension.grid(requested.dimensions())) {
      if (kinds.isEmpty()) settings.add(point);
      for (var kind : kinds) {
        var one = new ArrayList<>(List.of(text(kind.gpu()), text(kind.price())));
        one.addAll(point);
        settings.add(one);
      }
    }
    return settings;
  }

  private static Written.Text text(String value) {
    return new Written.Text(value, Written.Origin.of("--gpus"));
  }

  private static List<Written.Text> values(List<List<Written.Text>> settings, Trial trial) {
    var values = new ArrayList<>(settings.get(trial.alternative()));
    values.add(text("" + trial.engines()));
    return values;
  }

  private List<Alternative> alternatives(Plan plan, List<List<Written.Text>> settings)
      throws IOException {
    var alternatives = new ArrayList<Alternative>();
    for (var each : settings) {
      // Memory that all engines share costs the same for any number of them.
      double one = hourly(plan, each, 1);
      double more = hourly(plan, each, 2) - one;
      alternatives.add(new Alternative(engines -> one + (engines - 1) * more));
    }
    return alternatives;
  }

  private double hourly(Plan plan, List<Written.Text> setting, int engines) throws IOException {
    var values = new ArrayList<>(setting);
    values.add(text("" + engines));
    var setup = new Setup(plan, values, options, err, ParallelTasks.ALONE);
    return setup.fleet().cost(HOUR_SECONDS, setup.prices());
  }

  private void write(Plan plan, Comparison comparison, String advice) throws IOException {
    if (options.json) out.println(ComparisonJson.write(comparison));
    else out.print(ComparisonTable.of(comparison) + "\n" + advice);
    out.flush();
    if (options.report != null) {
      Files.writeString(options.report, ComparisonPage.of(comparison, plan.description()));
    }
  }

  /** Describes the recommended choice, the next best, and what was not examined. */
  private String advice(
      CheapestSearch search, Comparison comparison, Map<Trial, Comparison.Point> tried) {
    var text = new StringBuilder();
    var ranking = search.ranking();
    for (int i = 0; i < Math.min(2, ranking.size()); i++) {
      var trial = ranking.get(i);
      var point = Objects.requireNonNull(tried.get(trial));
      text.append(i == 0 ? "cheapest   " : "runner-up  ").append(comparison.name(point));
      text.append(
          String.format(
              Locale.ROOT,
              "%n           %,.2f %s, %.1f %% within the targets, TTFT p90 %,.0f ms%n",
              search.hourly(trial),
              comparison.unit().equals("cost") ? "an hour" : "GPUs",
              100 * point.summary().goodput().attainment(),
              point.summary().ttft().p90()));
      var fewer = tried.get(new Trial(trial.alternative(), trial.engines() - 1));
      if (fewer == null) continue;
      double kept = 100 * fewer.summary().goodput().attainment();
      text.append(
          String.format(Locale.ROOT, "           one engine fewer: %.1f %% within%n", kept));
    }
    if (ranking.isEmpty()) {
      text.append("no alternative keeps the targets with up to " + enginesMax + " engines;");
      text.append(" raise --engines-max, or ask for less\n");
    }
    if (search.isCutShort()) {
      text.append("cut short  after " + runsMax + " runs: others may be cheaper; raise --runs\n");
    }
    return text.toString();
  }
}
