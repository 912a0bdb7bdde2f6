package dev.kvasir.cli.serve;

import dev.kvasir.Nullable;
import dev.kvasir.cli.process.UserErrors;
import dev.kvasir.cli.settings.Deployment;
import dev.kvasir.gateway.picker.Picker;
import dev.kvasir.gateway.picker.PickerSettings;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.logging.Level;
import java.util.logging.Logger;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Picks endpoints for Envoy, with all that serving has. */
@Command(
    name = "picker",
    description = {
      "Tell Envoy which worker is to answer each request (Gateway API Inference Extension).",
      "",
      "The same router as that of 'serve', with the same settings, asked by Envoy's filter"
          + " ext_proc",
      "over gRPC. Requests may also be sent to --port as with 'serve'."
    },
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  kvasir picker --worker http://10.0.0.5:8000 --worker http://10.0.0.6:8000",
      "  kvasir picker --config kvasir.yaml --host 0.0.0.0 --picker-port 9002"
    })
public final class PickerCommand implements Callable<Integer> {
  private final PrintWriter out;
  private final PrintWriter err;
  private final Map<String, String> environment;
  private final String version;

  @Option(names = "--verbose", description = "Also log the state of workers and tiers.")
  private boolean verbose;

  @Option(
      names = "--picker-port",
      paramLabel = "PORT",
      description = "Port on which Envoy asks; 0 for any free port (default: 9002).")
  private @Nullable String pickerPort;

  @Mixin private ServeOptions options = new ServeOptions();

  public PickerCommand(
      PrintWriter out, PrintWriter err, Map<String, String> environment, String version) {
    this.out = out;
    this.err = err;
    this.environment = environment;
    this.version = version;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    Logger.getLogger("").setLevel(verbose ? Level.INFO : Level.WARNING);
    return UserErrors.caught(err, "picker", this::pick);
  }

  private int pick() throws IOException, InterruptedException {
    options.add("--picker-port", "listen.picker-port", pickerPort);
    return new ServeRun(err, environment, version, options).until(this::start);
  }

  private void start(Serving serving, Deployment settings, double seconds) {
    var listen = settings.listen();
    var api = listen.api(settings.limits().http(), serving.gateway().keys());
    var picker = serving.pick(PickerSettings.at(api.at(listen.host(), listen.pickerPort())));
    printSummary(serving, picker, settings, seconds);
  }

  private void printSummary(Serving serving, Picker picker, Deployment settings, double seconds) {
    out.printf(
        Locale.ROOT,
        "Kvasir picks among %d workers, ready after %.1f s.%n%n",
        serving
            .embedded()
            .map(own -> own.group().engines().size())
            .orElse(settings.workers().size()),
        seconds);
    out.println("  ext_proc   " + settings.listen().host() + ":" + picker.port());
    out.println("  dashboard  " + serving.gateway().url() + "/");
    out.println("  metrics    " + serving.gateway().metricsUrl() + "/metrics");
    out.println();
    out.println(
        "How to set up Envoy: docs/envoy.md. Ctrl-C finishes the requests in flight and stops.");
    out.flush();
  }
}
