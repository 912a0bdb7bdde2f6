package dev.kvasir.cli.load;

import dev.kvasir.cli.process.ExitCode;
import dev.kvasir.cli.process.Interrupt;
import dev.kvasir.cli.process.UserErrors;
import dev.kvasir.cli.simulate.TerminalLine;
import dev.kvasir.net.Network;
import dev.kvasir.tools.load.LoadCapture;
import dev.kvasir.tools.load.LoadCheck;
import dev.kvasir.tools.load.LoadDriver;
import dev.kvasir.tools.load.LoadReport;
import dev.kvasir.tools.load.LoadSettings;
import dev.kvasir.tools.load.Pacing;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Loads a server, and reports how it answered. */
@Command(
    name = "load",
    customSynopsis = "kvasir load (--rate R | --trace FILE | --concurrency N) [OPTIONS]",
    description = "Load an OpenAI-compatible server, and measure how it answers.",
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  kvasir load --rate 4 --requests 200 --prompt-tokens 1000 --prefix-tokens 800",
      "  kvasir load --trace conversation_trace.jsonl --time-scale 0.5 --ttft-slo 2000",
      "  kvasir load --url http://10.0.0.7:8000 --concurrency 32 --duration 60 --json",
      "",
      "Times count from when a request was due, even if it was sent later."
    })
public final class LoadCommand implements Callable<Integer> {
  private static final Duration CHECK_PATIENCE = Duration.ofSeconds(15);
  private static final long TICK_MILLIS = 100;

  private static final Duration PATIENCE = Duration.ofSeconds(3);

  private final PrintWriter out;
  private final PrintWriter err;
  private final Map<String, String> environment;

  @Mixin private LoadOptions options = new LoadOptions();

  public LoadCommand(PrintWriter out, PrintWriter err, Map<String, String> environment) {
    this.out = out;
    this.err = err;
    this.environment = environment;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    return UserErrors.caught(err, "load", this::run);
  }

  private int run() throws IOException, InterruptedException {
    var settings =
        new LoadSettings(
            options.target.target(environment),
            options.requests.pacing(),
            options.requests.duration(),
            options.target.timeout(),
            options.output.targets());
    try (var network = Network.open()) {
      return switch (LoadCheck.of(network, settings.target(), CHECK_PATIENCE)) {
        case LoadCheck.Unusable(var message) -> {
          err.println("kvasir: " + message);
          yield ExitCode.UNAVAILABLE;
        }
        case LoadCheck.Ready(var model, _) -> load(network, settings.withModel(model));
      };
    }
  }

  private int load(Network network, LoadSettings settings)
      throws IOException, InterruptedException {
    var opened = new ArrayList<InputStream>();
    try {
      var requests = options.requests.open(opened);
      warmUp(network, settings);
      var file = options.output.capture;
      try (var capture = file == null ? null : LoadCapture.to(file);
          var driver = new LoadDriver(network, settings, requests, capture);
          var _ = Interrupt.of(driver::stop, PATIENCE)) {
        var report = awaited(driver, driver.start());
        if (options.output.json) out.println(LoadJson.write(report));
        else out.print(LoadTable.of(report, settings.targets()));
        out.flush();
        return report.completed() > 0 ? ExitCode.OK : ExitCode.UNAVAILABLE;
      }
    } finally {
      for (var stream : opened) stream.close();
    }
  }

  /** The first requests of a process are slow for its own sake. */
  private void warmUp(Network network, LoadSettings settings) throws InterruptedException {
    var one = settings.pacedBy(new Pacing.Closed(1));
    try (var driver = new LoadDriver(network, one, options.requests.warmups(), null)) {
      var _ = awaited(driver, driver.start());
    }
  }

  private LoadReport awaited(LoadDriver driver, CompletableFuture<LoadReport> report)
      throws InterruptedException {
    try (var line = TerminalLine.on(err)) {
      while (true) {
        try {
          return report.get(TICK_MILLIS, TimeUnit.MILLISECONDS);
        } catch (TimeoutException _) {
          if (line.isDue()) line.write(text(driver.progress()));
        }
      }
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException wrong) throw wrong;
      throw new IllegalStateException(e);
    }
  }

  private static String text(LoadDriver.Progress progress) {
    return "%d sent, %d answered, %d failed, %d under way"
        .formatted(progress.sent(), progress.completed(), progress.failed(), progress.inFlight());
  }
}
