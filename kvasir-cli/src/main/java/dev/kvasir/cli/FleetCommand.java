package dev.kvasir.cli;

import dev.kvasir.cli.process.ExitCode;
import dev.kvasir.cli.process.Interrupt;
import dev.kvasir.cli.process.UserErrors;
import dev.kvasir.cli.simulate.ModelOptions;
import dev.kvasir.embedded.PacedEngines;
import dev.kvasir.embedded.ServedModel;
import dev.kvasir.engine.EngineSettings;
import dev.kvasir.model.ModelShape;
import dev.kvasir.net.HeapWatchdog;
import dev.kvasir.net.server.HttpFront;
import dev.kvasir.net.server.HttpSettings;
import dev.kvasir.sim.step.TimedModel;
import dev.kvasir.sim.transfer.TimedStore;
import dev.kvasir.tools.doctor.CacheFolder;
import dev.kvasir.tools.fleet.Fleet;
import dev.kvasir.tools.fleet.FleetSettings;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Starts look-alike vLLM workers, to try gateways and applications against. */
@Command(
    name = "fleet",
    description = {
      "Start simulated vLLM workers, to test gateways and applications.",
      "",
      "Real HTTP, streaming, KV events, metrics and faults on demand, and no model behind them:",
      "answers take the time that a model would take."
    },
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  kvasir fleet --workers 4",
      "  kvasir fleet --workers 8 --hardware H100 --tp 2 --model-config llama-70b/config.json",
      "  curl -d '{\"worker\": 1, \"kind\": \"stall\", \"after\": 3, \"answers\": 5}' \\",
      "       -H 'content-type: application/json' http://127.0.0.1:8099/faults"
    })
final class FleetCommand implements Callable<Integer> {
  private static final Duration LINK_LATENCY = Duration.ofNanos(50_000);

  /** Tokens of an 8-billion model that NIXL moves over one fast link in a microsecond. */
  private static final double LINK_TOKENS_PER_MICRO = 0.3;

  private static final int CONTEXT_TOKENS_USUAL = 131_072;

  private static final Duration STOP_MAX = Duration.ofMinutes(2);

  private final PrintWriter out;
  private final PrintWriter err;
  private final Map<String, String> environment;

  @Option(
      names = "--workers",
      paramLabel = "N",
      description = "Number of workers (default: ${DEFAULT-VALUE}).")
  private int workers = 4;

  @Option(
      names = "--host",
      paramLabel = "HOST",
      description = "Address to listen on (default: ${DEFAULT-VALUE}, this machine alone).")
  private String host = HttpSettings.LOOPBACK;

  @Option(
      names = "--port",
      paramLabel = "PORT",
      description = "Port of the first worker; the others follow (default: ${DEFAULT-VALUE}).")
  private int port = 8_100;

  @Option(
      names = "--control-port",
      paramLabel = "PORT",
      description = "Port to ask for faults on: /faults, /kill, /revive, /workers (default: 8099).")
  private int controlPort = 8_099;

  @Option(
      names = "--kv-blocks",
      paramLabel = "N",
      description = "KV blocks of 16 tokens of each worker (default: what the GPU has room for).")
  private int blocks;

  @Option(
      names = "--served-model-name",
      paramLabel = "NAME",
      description = "Name of the model that the workers serve (default: ${DEFAULT-VALUE}).")
  private String name = "kvasir-fleet";

  @Mixin private ModelOptions model = new ModelOptions();

  FleetCommand(PrintWriter out, PrintWriter err, Map<String, String> environment) {
    this.out = out;
    this.err = err;
    this.environment = environment;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    return UserErrors.caught(err, "fleet", this::run);
  }

  private int run() throws IOException, InterruptedException {
    var latency = model.hardware().model();
    var pace =
        new PacedEngines.Pace(
            loop -> new TimedModel(loop, latency, () -> 0),
            loop ->
                new TimedStore(loop, ModelShape.BLOCK_TOKENS, LINK_LATENCY, LINK_TOKENS_PER_MICRO));
    int each = blocks > 0 ? blocks : model.hardware().blocks(ModelShape.BLOCK_TOKENS);
    var settings = new FleetSettings(workers, host, port, each, EngineSettings.DEFAULT);
    for (int i = 0; i < workers; i++) HttpFront.requireFree(settings.http(i));
    HttpFront.requireFree(HttpSettings.local(controlPort));
    var stopRequested = new CountDownLatch(1);
    try (var _ = Interrupt.of(stopRequested::countDown, STOP_MAX);
        var _ = HeapWatchdog.start(() -> Runtime.getRuntime().halt(HeapWatchdog.EXIT_CODE));
        var fleet = Fleet.start(served(), settings, pace);
        var control = fleet.control(HttpSettings.local(controlPort))) {
      printSummary(fleet, control.url());
      stopRequested.await();
    }
    return ExitCode.OK;
  }

  private ServedModel served() throws IOException {
    int known = model.hardware().contextTokens();
    int context = known > 0 ? known : CONTEXT_TOKENS_USUAL;
    var folder = CacheFolder.usual(environment, Path.of(System.getProperty("user.home")));
    return ServedModel.withoutWeights(name, folder, context);
  }

  private void printSummary(Fleet fleet, String control) {
    var serve = new StringBuilder("./kvasir serve");
    for (var worker : fleet.workers()) {
      var events = worker.events().endpoint();
      out.println(worker.name() + "  " + worker.url() + "  KV events " + events);
      serve.append(" --worker ").append(worker.url()).append(",events=").append(events);
      serve.append(",replay=").append(worker.events().replayEndpoint());
    }
    out.println();
    out.println("faults    " + control + "/faults");
    out.println("in front  " + serve);
    out.println("Ctrl-C stops the fleet.");
    out.flush();
  }
}
