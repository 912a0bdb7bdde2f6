package dev.kvasir.cli.simulate;

import dev.kvasir.cli.process.ExitCode;
import dev.kvasir.cli.process.OutputFile;
import dev.kvasir.cli.process.UserErrors;
import dev.kvasir.cli.settings.Deployment;
import dev.kvasir.sim.cache.CacheFound;
import dev.kvasir.sim.page.ComparisonPage;
import dev.kvasir.sim.page.RunPage;
import dev.kvasir.sim.page.Shard;
import dev.kvasir.sim.report.Fidelity;
import dev.kvasir.sim.report.Summary;
import dev.kvasir.sim.result.RunResult;
import dev.kvasir.sim.table.ComparisonJson;
import dev.kvasir.sim.table.ComparisonTable;
import dev.kvasir.sim.table.FidelityTable;
import dev.kvasir.sim.table.RequestLines;
import dev.kvasir.sim.table.SummaryJson;
import dev.kvasir.sim.table.SummaryTable;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Replays a workload in virtual time through the product's own code. */
@Command(
    name = "simulate",
    customSynopsis = "kvasir simulate (--trace FILE | --workload FILE | --config FILE) [OPTIONS]",
    description = "Predict a deployment: replay a trace, or generated requests, in virtual time.",
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  kvasir simulate --trace conversation_trace.jsonl --instances 8 --block-size 512",
      "  kvasir simulate --workload examples/workloads/chat.yaml --host-blocks 50000 --json",
      "  kvasir simulate --config kvasir.yaml --trace traffic.jsonl --set tiers.host.size=64GiB",
      "  kvasir simulate --config examples/host-memory.yaml --sweep tiers.host.size=64GiB,128GiB"
    })
public final class SimulateCommand implements Callable<Integer> {
  private static final Pattern SHARD = Pattern.compile("(\\d{1,6})/(\\d{1,6})");

  private final PrintWriter out;
  private final PrintWriter err;
  private final Map<String, String> environment;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private SimulateOptions options = new SimulateOptions();

  private SimulateCommand(PrintWriter out, PrintWriter err, Map<String, String> environment) {
    this.out = out;
    this.err = err;
    this.environment = environment;
  }

  /** The command with all its options. */
  public static CommandLine line(
      PrintWriter out, PrintWriter err, Map<String, String> environment) {
    var line = new CommandLine(new SimulateCommand(out, err, environment));
    KeyOption.addTo(line.getCommandSpec());
    return line;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    return UserErrors.caught(err, "simulate", this::run);
  }

  private int run() throws IOException {
    OutputFile.require(options.report, options.requestsOut);
    if (options.validate != null) CaptureFile.requireTimes(options.validate);
    var plan = Plan.of(options, spec.commandLine().getParseResult(), environment, err);
    if (options.isBlis()) plan = BlisSetup.withPolicies(plan);
    requireWhole(plan.deployment());
    if (options.shard != null && !plan.isGrid()) {
      throw new IllegalArgumentException("--shard is for a sweep; give --sweep, or omit --shard");
    }
    if (plan.isGrid()) {
      compare(plan);
      return ExitCode.OK;
    }
    var setup = new Setup(plan, List.of(), options, err, new AllCores());
    if (options.cacheOnly) {
      writeFound(setup.replay());
      return ExitCode.OK;
    }
    var run = watched(setup);
    var summary = setup.summary(run);
    setup.warn(summary);
    var measured = options.validate;
    var intervals = ProfileIntervals.of(setup, run, plan.deployment().simulation().seedOrDefault());
    if (measured == null) {
      write(run, summary, plan, intervals);
    } else {
      for (var note : CaptureFile.read(measured).notes()) err.println("kvasir: " + note);
      compare(intervals.foretold(CaptureFile.compare(measured, run)), intervals);
    }
    if (options.report != null) {
      Files.writeString(options.report, RunPage.of(run, setup.scale(), plan.description()));
    }
    return ExitCode.OK;
  }

  private RunResult watched(Setup setup) throws IOException {
    try (var line = TerminalLine.on(err)) {
      return setup.run(
          done -> {
            if ((done & 0xff) == 0 && line.isDue()) line.write(done + " requests");
          });
    }
  }

  /**
   * Requires that a run that is compared with a measurement replays all requests, at their times.
   */
  private void requireWhole(Deployment deployment) {
    if (options.validate == null) return;
    var simulation = deployment.simulation();
    if (simulation.requestsMax() > 0 || simulation.timeScale() != 1) {
      throw new IllegalArgumentException(
          "--validate replays all requests as they came; omit --requests and"
              + " simulation.time-scale");
    }
  }

  private void compare(Fidelity fidelity, ProfileIntervals intervals) throws IOException {
    if (options.requestsOut != null) {
      try (var writer = Files.newBufferedWriter(options.requestsOut)) {
        FidelityTable.write(fidelity, writer);
      }
    }
    if (options.json) out.println(intervals.json(FidelityTable.json(fidelity)));
    else out.print(FidelityTable.of(fidelity) + intervals.text());
    out.flush();
  }

  private void compare(Plan plan) throws IOException {
    if (options.validate != null) {
      throw new IllegalArgumentException("--validate is for one run; omit --sweep");
    }
    if (options.shard != null) {
      out.println(shard(plan, options.shard).write());
      out.flush();
      return;
    }
    var comparison = new Sweep(plan, options, err).run();
    if (options.json) out.println(ComparisonJson.write(comparison));
    else out.print(ComparisonTable.of(comparison));
    out.flush();
    if (options.report != null) {
      Files.writeString(options.report, ComparisonPage.of(comparison, plan.description()));
    }
  }

  private Shard shard(Plan plan, String written) throws IOException {
    var parts = SHARD.matcher(written);
    int of = parts.matches() ? Integer.parseInt(parts.group(2)) : 0;
    int first = parts.matches() ? Integer.parseInt(parts.group(1)) : 0;
    if (first >= of) {
      throw new IllegalArgumentException(
          "--shard " + written + "; write I/N with I from 0 to N-1, as in 0/4");
    }
    return new Sweep(plan, options, err).run(first, of);
  }

  private void write(RunResult run, Summary summary, Plan plan, ProfileIntervals intervals)
      throws IOException {
    if (options.requestsOut != null) {
      int blockTokens = plan.deployment().engines().blockSize();
      try (var writer = Files.newBufferedWriter(options.requestsOut)) {
        new RequestLines(blockTokens).write(run, writer);
      }
    }
    if (options.isBlis() && BlisSetup.keys(plan).isSummarized()) writeShares(run);
    if (options.json) out.println(intervals.json(SummaryJson.write(summary)));
    else out.print(SummaryTable.of(summary) + intervals.text());
    out.flush();
  }

  private void writeShares(RunResult run) {
    var counts = new int[run.instances().size()];
    for (var request : run.requests()) {
      if (request.instance() >= 0) counts[request.instance()]++;
    }
    for (int i = 0; i < counts.length; i++) {
      err.println("instance_" + i + ": " + counts[i] + " requests");
    }
  }

  private void writeFound(CacheFound found) {
    if (options.json) {
      out.println(SummaryJson.write(found));
    } else {
      out.println(SummaryTable.of(found));
    }
    out.flush();
  }
}
