package dev.kvasir.cli.serve;

import dev.kvasir.Nullable;
import dev.kvasir.live.gateway.GatewaySettings;
import dev.kvasir.live.gateway.Routing;
import dev.kvasir.live.http.ApiKeys;
import dev.kvasir.live.http.HttpLimits;
import dev.kvasir.live.http.HttpSettings;
import dev.kvasir.router.PickPolicy;
import dev.kvasir.router.PlacementPolicy;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Where requests come in, and how they find their way. */
@Command(optionListHeading = "%nRequests and their way:%n")
final class GatewayOptions {
  @Option(
      names = "--host",
      paramLabel = "HOST",
      description = "Where to listen. Usually ${DEFAULT-VALUE}, for this machine alone.")
  private String host = HttpSettings.LOOPBACK;

  @Option(
      names = "--port",
      paramLabel = "PORT",
      description = "0 for any that is free. Usually ${DEFAULT-VALUE}.")
  private int port = 8_000;

  @Option(
      names = "--admin-port",
      paramLabel = "PORT",
      description = "For /metrics and draining, on this machine alone. Usually ${DEFAULT-VALUE}.")
  private int adminPort = 8_001;

  @Option(
      names = "--routing",
      paramLabel = "NAME",
      description = "Who answers: balanced, round-robin, least-loaded, longest-prefix, weighted.")
  private String routing = PickPolicy.NAMES.getFirst();

  @Option(
      names = "--placement",
      paramLabel = "NAME",
      description = "Who prefills: predictive, slo, always, never, seed-heuristic, seed-cost.")
  private String placement = PlacementPolicy.NAMES.getFirst();

  @Option(
      names = "--naming",
      paramLabel = "HOW",
      description =
          "What prompts are told apart by: tokens, for which a worker is asked, or bytes. Usually"
              + " tokens where workers tell their KV events.")
  private @Nullable String naming;

  @Option(
      names = "--capture",
      paramLabel = "FILE",
      description = "Write the traffic as a trace for simulate; lengths and hashes, no text.")
  private @Nullable Path capture;

  @Option(
      names = "--log-requests",
      paramLabel = "FILE",
      description = "Write a line of JSON for each request: where it went, why, and its times.")
  private @Nullable Path log;

  @Option(names = "--worker-key", paramLabel = "KEY", description = "What workers are sent as key.")
  private String workerKey = "";

  GatewaySettings settings(List<WorkerText> texts) {
    var workers = texts.stream().map(WorkerText::worker).toList();
    var usual = GatewaySettings.of(port, workers);
    var api = new HttpSettings(host, port, HttpLimits.DEFAULT, ApiKeys.NONE, null);
    return usual
        .at(api, HttpSettings.local(adminPort))
        .with(Routing.DEFAULT.by(routing, placement).with(naming(texts)))
        .with(new GatewaySettings.Files(log, capture))
        .with(workerKey, usual.secret());
  }

  private Routing.Naming naming(List<WorkerText> workers) {
    var asked = naming;
    if (asked == null) {
      boolean told = workers.stream().anyMatch(worker -> worker.events() != null);
      return told ? Routing.Naming.TOKENS : Routing.Naming.BYTES;
    }
    return switch (asked) {
      case "tokens" -> Routing.Naming.TOKENS;
      case "bytes" -> Routing.Naming.BYTES;
      default ->
          throw new IllegalArgumentException("--naming " + asked + ", expected tokens or bytes");
    };
  }
}
