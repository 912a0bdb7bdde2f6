package dev.kvasir.cli.serve;

import dev.kvasir.cli.process.UserErrors;
import dev.kvasir.cli.settings.Deployment;
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

/** Serves: an OpenAI-compatible endpoint in front of engines, our own or others. */
@Command(
    name = "serve",
    description = {
      "Serve an OpenAI-compatible endpoint, on embedded engines or in front of other servers.",
      "",
      "With no arguments: two embedded engines with the built-in model. With --worker: in front of",
      "vLLM, SGLang or other servers."
    },
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  kvasir serve",
      "  kvasir serve --model llama.gguf --host-blocks 8192 --disk-blocks 65536",
      "  kvasir serve --worker http://gpu1:8000 --worker http://gpu2:8000 --capture traffic.jsonl",
      "  kvasir serve --worker http://p:8000,role=prefill,connector=nixl \\",
      "               --worker http://d:8000,role=decode,connector=nixl,events=tcp://d:5557",
      "  kvasir serve --config kvasir.yaml"
    })
public final class ServeCommand implements Callable<Integer> {
  private final PrintWriter out;
  private final PrintWriter err;
  private final Map<String, String> environment;
  private final String version;

  @Option(names = "--verbose", description = "Also log the state of workers and tiers.")
  private boolean verbose;

  @Mixin private ServeOptions options = new ServeOptions();

  public ServeCommand(
      PrintWriter out, PrintWriter err, Map<String, String> environment, String version) {
    this.version = version;
    this.out = out;
    this.err = err;
    this.environment = environment;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    Logger.getLogger("").setLevel(verbose ? Level.INFO : Level.WARNING);
    return UserErrors.caught(err, "serve", this::serve);
  }

  private int serve() throws IOException, InterruptedException {
    var run = new ServeRun(err, environment, version, options);
    return run.until(this::printSummary);
  }

  private void printSummary(Serving serving, Deployment settings, double seconds) {
    var url = serving.gateway().url();
    var what = serving.embedded().map(this::engines).orElse(settings.workers().size() + " workers");
    out.printf(Locale.ROOT, "Kvasir serves %s, ready after %.1f s.%n%n", what, seconds);
    out.println("  endpoint   " + url + "/v1");
    out.println("  dashboard  " + url + "/");
    out.println("  metrics    " + serving.gateway().metricsUrl() + "/metrics");
    out.println();
    out.println("Try it:");
    out.println("  curl " + url + "/v1/chat/completions -H 'content-type: application/json' \\");
    out.println(
        "    -d '{\"messages\": [{\"role\": \"user\", \"content\": \"What is a lantern?\"}]}'");
    out.println();
    out.println("Ctrl-C finishes the requests in flight and stops.");
    out.flush();
  }

  private String engines(EmbeddedWorkers embedded) {
    var group = embedded.group();
    var text =
        new StringBuilder(group.model().served().name())
            .append(" on ")
            .append(group.engines().size())
            .append(" engines");
    var tiers = group.tiers();
    if (tiers != null && tiers.disk() != null) {
      text.append(", ").append(tiers.disk().recovered().size()).append(" blocks found on disk");
    }
    return text.toString();
  }
}
