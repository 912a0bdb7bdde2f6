package dev.kvasir.cli.simulate;

import dev.kvasir.cli.process.ExitCode;
import dev.kvasir.sim.Crew;
import dev.kvasir.sim.latency.LatencyError;
import dev.kvasir.sim.page.ComparisonPage;
import dev.kvasir.sim.page.RunPage;
import dev.kvasir.sim.report.CacheFound;
import dev.kvasir.sim.report.ComparisonJson;
import dev.kvasir.sim.report.ComparisonTable;
import dev.kvasir.sim.report.Fidelity;
import dev.kvasir.sim.report.FidelityTable;
import dev.kvasir.sim.report.RequestLines;
import dev.kvasir.sim.report.RunResult;
import dev.kvasir.sim.report.Summary;
import dev.kvasir.sim.report.SummaryJson;
import dev.kvasir.sim.report.SummaryTable;
import dev.kvasir.sim.spec.SpecError;
import dev.kvasir.sim.trace.TraceError;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Replays a workload in virtual time through the product's own code. */
@Command(
    name = "simulate",
    customSynopsis = "kvasir simulate (--trace FILE | --workload FILE | --scenario FILE) [OPTIONS]",
    description = "Replay a trace, or requests made by chance, in virtual time.",
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  kvasir simulate --trace conversation_trace.jsonl --instances 8 --block-size 512",
      "  kvasir simulate --workload examples/workloads/chat.yaml --kv-cpu-blocks 50000 --json",
      "  kvasir simulate --scenario examples/host-memory.yaml --sweep kv-cpu-blocks=0,20000,80000"
    },
    usageHelpWidth = 100,
    sortOptions = false)
public final class SimulateCommand implements Callable<Integer> {
  private static final Crew ALL_CORES = tasks -> tasks.parallelStream().forEach(Runnable::run);
  private static final String TRY_HELP = " Try 'kvasir simulate --help'.";

  private final PrintWriter out;
  private final PrintWriter err;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private SimulateOptions options = new SimulateOptions();

  public SimulateCommand(PrintWriter out, PrintWriter err) {
    this.out = out;
    this.err = err;
  }

  @Override
  public Integer call() throws IOException {
    try {
      return run();
    } catch (TraceError | SpecError wrong) {
      err.println("kvasir: " + wrong.getMessage());
      return ExitCode.DATA;
    } catch (IllegalArgumentException | LatencyError wrong) {
      var said = String.valueOf(wrong.getMessage());
      err.println("kvasir: " + said + (said.endsWith("?") ? "" : ".") + TRY_HELP);
      return ExitCode.USAGE;
    } catch (NoSuchFileException missing) {
      err.println("kvasir: there is no file " + missing.getFile());
      return ExitCode.USAGE;
    }
  }

  private int run() throws IOException {
    var knobs = new Knobs();
    var said = Settings.said(knobs, spec.commandLine().getParseResult());
    var plan = Plan.of(said, options.scenario, options.output.sweeps, knobs, err);
    if (plan.isGrid()) {
      compare(plan);
      return ExitCode.OK;
    }
    options = plan.options();
    var setup = new Setup(options, err, ALL_CORES);
    if (options.cacheOnly) {
      writeFound(setup.replay());
      return ExitCode.OK;
    }
    RunResult run;
    try (var progress = Progress.on(err)) {
      run = setup.run(progress::completed);
    }
    var summary = setup.summary(run);
    setup.warnOfIdleRoles(summary);
    var measured = options.workload.validate();
    if (measured == null) write(run, summary);
    else compare(CaptureFile.compare(measured, run));
    if (options.output.report != null) {
      Files.writeString(options.output.report, RunPage.of(run, setup.scale(), plan.asked()));
    }
    return ExitCode.OK;
  }

  private void compare(Fidelity fidelity) throws IOException {
    if (options.output.requestsOut != null) {
      try (var writer = Files.newBufferedWriter(options.output.requestsOut)) {
        FidelityTable.write(fidelity, writer);
      }
    }
    if (options.output.json) out.println(FidelityTable.json(fidelity));
    else out.print(FidelityTable.of(fidelity));
    out.flush();
  }

  private void compare(Plan plan) throws IOException {
    if (plan.options().workload.validate() != null) {
      throw new IllegalArgumentException("--validate is for one run; leave --sweep away");
    }
    var comparison = new Sweep(plan, err).run();
    var output = plan.options().output;
    if (output.json) out.println(ComparisonJson.write(comparison));
    else out.print(ComparisonTable.of(comparison));
    out.flush();
    if (output.report != null) {
      Files.writeString(output.report, ComparisonPage.of(comparison, plan.asked()));
    }
  }

  private void write(RunResult run, Summary summary) throws IOException {
    if (options.output.requestsOut != null) writeRequests(run, options.output.requestsOut);
    if (options.output.summarizeTrace) writeShares(run);
    if (options.output.json) out.println(SummaryJson.write(summary));
    else out.print(SummaryTable.of(summary));
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

  private void writeRequests(RunResult run, Path file) throws IOException {
    try (var writer = Files.newBufferedWriter(file)) {
      new RequestLines(options.memory.blockTokens()).write(run, writer);
    }
  }

  private void writeFound(CacheFound found) {
    if (options.output.json) {
      out.println(SummaryJson.write(found));
    } else {
      out.println(SummaryTable.of(found));
    }
    out.flush();
  }
}
