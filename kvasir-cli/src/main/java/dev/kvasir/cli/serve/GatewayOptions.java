package dev.kvasir.cli.serve;

import dev.kvasir.Nullable;
import dev.kvasir.live.gateway.GatewaySettings;
import dev.kvasir.live.gateway.Routing;
import dev.kvasir.live.http.ApiKeys;
import dev.kvasir.live.http.HttpLimits;
import dev.kvasir.live.http.HttpSettings;
import dev.kvasir.router.PickPolicy;
import dev.kvasir.router.PlacementPolicy;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Where requests come in, and how they find their way. */
@Command(optionListHeading = "%nRequests and their way:%n")
final class GatewayOptions {
  private static final List<String> LOOPBACKS = List.of("127.0.0.1", "localhost", "::1");

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

  @Option(
      names = "--api-keys",
      paramLabel = "FILE",
      description =
          "Who may ask: a line for each key, with its tenant and its SHA-256, and perhaps admin,"
              + " per-minute=N, at-once=N. Tenants never share a block. Usually everybody may.")
  private @Nullable Path keyFile;

  /** Whether others than this machine may ask, whoever they are. */
  boolean isOpenToAnybody() {
    return keyFile == null && !LOOPBACKS.contains(host);
  }

  GatewaySettings settings(List<WorkerText> texts) throws IOException {
    var file = keyFile;
    var keys = file == null ? ApiKeys.NONE : KeyFile.read(file);
    var workers = texts.stream().map(WorkerText::worker).toList();
    var usual = GatewaySettings.of(port, workers);
    var api = new HttpSettings(host, port, HttpLimits.DEFAULT, keys, null);
    return usual
        .at(api, HttpSettings.local(adminPort).with(keys))
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
