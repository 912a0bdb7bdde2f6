package dev.kvasir.cli.serve;

import dev.kvasir.Nullable;
import dev.kvasir.cli.config.Said;
import dev.kvasir.live.store.shared.Secret;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Where requests come in, and how they find their way; each option is a key of the file. */
@Command(optionListHeading = "%nRequests and their way:%n")
final class GatewayOptions {
  @Option(
      names = "--host",
      paramLabel = "HOST",
      description = "Where to listen. Usually 127.0.0.1, for this machine alone.")
  private @Nullable String host;

  @Option(
      names = "--port",
      paramLabel = "PORT",
      description = "0 for any that is free. Usually 8000.")
  private @Nullable String port;

  @Option(
      names = "--admin-port",
      paramLabel = "PORT",
      description = "For /metrics and draining, on this machine alone. Usually 8001.")
  private @Nullable String adminPort;

  @Option(
      names = "--routing",
      paramLabel = "NAME",
      description = "Who answers: balanced, round-robin, least-loaded, longest-prefix, weighted.")
  private @Nullable String routing;

  @Option(
      names = "--placement",
      paramLabel = "NAME",
      description = "Who prefills: predictive, slo, always, never, seed-heuristic, seed-cost.")
  private @Nullable String placement;

  @Option(
      names = "--heavy-tokens",
      paramLabel = "N",
      description =
          "As many uncached tokens may be prefilled elsewhere. Usually 2048, or a quarter of the"
              + " context of embedded engines where that is less.")
  private @Nullable String heavyTokens;

  @Option(
      names = "--index-blocks",
      paramLabel = "N",
      description =
          "How many different blocks the router knows of, on all workers together; each takes about"
              + " 100 bytes (default: 1048576).")
  private @Nullable String indexBlocks;

  @Option(
      names = "--prefill-throughput",
      paramLabel = "N",
      description =
          "Tokens a second that a worker is taken to prefill until it has been measured"
              + " (default: 8000).")
  private @Nullable String prefillThroughput;

  @Option(
      names = "--placements-max",
      paramLabel = "N",
      description =
          "Prompts that a worker which also decodes prefills for others at a time (default: 1).")
  private @Nullable String placementsMax;

  @Option(
      names = "--dedicated-placements-max",
      paramLabel = "N",
      description =
          "The same for a worker that only prefills; 0 for as many as its predicted queue is worth"
              + " (default: 0).")
  private @Nullable String dedicatedPlacementsMax;

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
  private @Nullable String capture;

  @Option(
      names = "--log-requests",
      paramLabel = "FILE",
      description = "Write a line of JSON for each request: where it went, why, and its times.")
  private @Nullable String requests;

  @Option(
      names = "--log-format",
      paramLabel = "HOW",
      description = "How it is told what happens: text or json. Usually text.")
  private @Nullable String log;

  @Option(
      names = "--traces",
      paramLabel = "URL",
      description =
          "Send a trace of each request to OpenTelemetry, as in http://127.0.0.1:4318/v1/traces.")
  private @Nullable String traces;

  @Option(
      names = "--worker-key",
      paramLabel = "KEY",
      description =
          "What workers are sent as key, as env:NAME or file:PATH; the key itself could be read in"
              + " the list of processes.")
  private @Nullable String workerKey;

  @Option(
      names = "--api-keys",
      paramLabel = "FILE",
      description =
          "Who may ask: a line for each key, with its tenant and its SHA-256, and perhaps admin,"
              + " per-minute=N, tokens-per-minute=N, at-once=N. Tenants never share a block."
              + " Usually everybody may.")
  private @Nullable String apiKeys;

  /** Whether the key itself was given, and not where it stands. */
  boolean showsWorkerKey() {
    return workerKey != null && !Secret.isReference(workerKey);
  }

  /** What was said, as one would have written it in a file. */
  Said said() {
    return Said.NOTHING
        .with("--host", "listen.host", host)
        .with("--port", "listen.port", port)
        .with("--admin-port", "listen.admin-port", adminPort)
        .with("--routing", "routing.policy", routing)
        .with("--placement", "routing.placement", placement)
        .with("--heavy-tokens", "routing.heavy-tokens-min", heavyTokens)
        .with("--index-blocks", "routing.index-blocks", indexBlocks)
        .with("--prefill-throughput", "routing.prefill.throughput", prefillThroughput)
        .with("--placements-max", "routing.prefill.placements-max", placementsMax)
        .with(
            "--dedicated-placements-max",
            "routing.prefill.dedicated-placements-max",
            dedicatedPlacementsMax)
        .with("--naming", "routing.naming", naming)
        .with("--capture", "files.capture", capture)
        .with("--log-requests", "files.requests", requests)
        .with("--log-format", "files.log", log)
        .with("--traces", "files.traces", traces)
        .with("--worker-key", "routing.worker-key", workerKey)
        .with("--api-keys", "listen.api-keys", apiKeys);
  }
}
