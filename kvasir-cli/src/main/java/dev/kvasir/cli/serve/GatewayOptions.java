package dev.kvasir.cli.serve;

import dev.kvasir.Nullable;
import dev.kvasir.cli.config.Said;
import dev.kvasir.cli.settings.RoutingSettings;
import dev.kvasir.live.store.shared.Secret;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Where requests come in, and how they are routed; each option is a key of the file. */
@Command(optionListHeading = "%nRequests and routing:%n")
final class GatewayOptions {
  @Option(
      names = "--host",
      paramLabel = "HOST",
      description = "Address to listen on (default: 127.0.0.1, this machine alone).")
  private @Nullable String host;

  @Option(
      names = "--port",
      paramLabel = "PORT",
      description = "Port to listen on; 0 for any free port (default: 8000).")
  private @Nullable String port;

  @Option(
      names = "--admin-port",
      paramLabel = "PORT",
      description = "Port of /metrics and draining, on this machine alone (default: 8001).")
  private @Nullable String adminPort;

  @Option(
      names = "--warm-up",
      paramLabel = "TIME",
      description =
          "Longest time a gateway takes to compile its code before it listens; 0s for none"
              + " (default: 20s).")
  private @Nullable String warmUp;

  @Option(
      names = "--routing",
      paramLabel = "NAME",
      completionCandidates = RoutingSettings.Policies.class,
      description = "Which worker answers: ${COMPLETION-CANDIDATES} (default: balanced).")
  private @Nullable String routing;

  @Option(
      names = "--placement",
      paramLabel = "NAME",
      completionCandidates = RoutingSettings.Placements.class,
      description = "Where a prompt is prefilled: ${COMPLETION-CANDIDATES} (default: predictive).")
  private @Nullable String placement;

  @Option(
      names = "--heavy-tokens",
      paramLabel = "N",
      description =
          "Prefill elsewhere only prompts with at least this many uncached tokens (default: 2048,"
              + " or a quarter of the context of embedded engines).")
  private @Nullable String heavyTokens;

  @Option(
      names = "--index-blocks",
      paramLabel = "N",
      description =
          "Different blocks that the router can know of, on all workers together; each takes about"
              + " 100 bytes (default: 1048576).")
  private @Nullable String indexBlocks;

  @Option(
      names = "--prefill-throughput",
      paramLabel = "N",
      description =
          "Tokens a second that a worker is assumed to prefill until it has been measured"
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
          "How prompts are hashed: by tokens, for which a worker is asked, or by bytes (default:"
              + " tokens where workers publish KV events, else bytes).")
  private @Nullable String naming;

  @Option(
      names = "--tokenizer",
      paramLabel = "FOLDER",
      description =
          "Where tokenizer.json and the chat template of the workers' model are, to make tokens"
              + " here instead of asking workers; MODEL=FOLDER,MODEL=FOLDER for several models.")
  private @Nullable String tokenizer;

  @Option(
      names = "--peer",
      paramLabel = "URL",
      description =
          "Another gateway in front of the same workers, as http://HOST:PORT, which is asked at the"
              + " start what workers have cached; once for each.")
  private List<String> peers = new ArrayList<>();

  @Option(
      names = "--capture",
      paramLabel = "FILE",
      description = "Write the traffic as a trace for simulate: lengths and hashes, no text.")
  private @Nullable String capture;

  @Option(
      names = "--log-requests",
      paramLabel = "FILE",
      description = "Write a line of JSON for each request: where it went, why, and its times.")
  private @Nullable String requests;

  @Option(
      names = "--log-format",
      paramLabel = "HOW",
      description = "Format of the log on standard error: text or json (default: text).")
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
          "Key to send to workers, as env:NAME or file:PATH; a key on the command line shows in the"
              + " list of processes.")
  private @Nullable String workerKey;

  @Option(
      names = "--api-keys",
      paramLabel = "FILE",
      description =
          "API keys, one a line: tenant, SHA-256 of the key, and optionally admin, per-minute=N,"
              + " tokens-per-minute=N, at-once=N. Tenants never share a block (default: no key is"
              + " needed).")
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
        .with("--warm-up", "listen.warm-up", warmUp)
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
        .with("--tokenizer", "routing.tokenizer", tokenizer)
        .with("--peer", "replicas.peers", peers.isEmpty() ? null : String.join(",", peers))
        .with("--capture", "files.capture", capture)
        .with("--log-requests", "files.requests", requests)
        .with("--log-format", "files.log", log)
        .with("--traces", "files.traces", traces)
        .with("--worker-key", "routing.worker-key", workerKey)
        .with("--api-keys", "listen.api-keys", apiKeys);
  }
}
