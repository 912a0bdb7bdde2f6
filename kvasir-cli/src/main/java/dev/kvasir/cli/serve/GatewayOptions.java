package dev.kvasir.cli.serve;

import dev.kvasir.cli.config.GivenOptions;
import dev.kvasir.cli.config.KeyOptions;
import dev.kvasir.net.Secret;
import dev.kvasir.router.pick.PickPolicy;
import dev.kvasir.router.placement.PlacementPolicy;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Options for where requests come in and how they are routed; each option is a key of the file. */
@Command(optionListHeading = "%nRequests and routing:%n")
final class GatewayOptions {
  private static final String WORKER_KEY = "--worker-key";

  private final KeyOptions options =
      new KeyOptions(
          """
          --host HOST listen.host
            Address to listen on (default: 127.0.0.1, this machine alone).
          --port PORT listen.port
            Port to listen on; 0 for any free port (default: 8000).
          --admin-port PORT listen.admin-port
            Port of /metrics and draining, on this machine alone (default: 8001).
          --routing NAME routing.policy
            Which worker answers: %s (default: balanced).
          --placement NAME routing.placement
            Where a prompt is prefilled: %s (default: predictive).
          --heavy-tokens N routing.heavy-tokens-min
            Prefill elsewhere only prompts with at least this many uncached tokens (default: 2048,
            or a quarter of the context of embedded engines).
          --index-blocks N routing.index-blocks
            Blocks that the router's index can hold, for all workers together; each takes about
            100 bytes (default: 1048576).
          --prefill-throughput N routing.prefill.throughput
            Tokens per second that a worker is assumed to prefill until it is measured (default:
            8000).
          --placements-max N routing.prefill.placements-max
            Prompts that a worker that also decodes may prefill for others at a time (default: 1).
          --dedicated-placements-max N routing.prefill.dedicated-placements-max
            The same for a worker that only prefills; 0 for no fixed limit: the predicted queue
            decides (default: 0).
          --naming HOW routing.naming
            How prompts are hashed: tokens (a worker tokenizes them) or bytes (default: tokens if
            workers publish KV events, else bytes).
          --tokenizer FOLDER routing.tokenizer
            Folder with tokenizer.json and the chat template of the workers' model, to tokenize
            here instead of at a worker; MODEL=FOLDER,MODEL=FOLDER for several models.
          --peer URL* replicas.peers
            Another gateway in front of the same workers, as http://HOST:PORT. At the start it is
            asked what the workers have cached. Repeatable.
          --capture FILE files.capture
            Write the traffic as a trace for 'simulate': lengths and hashes, no text.
          --log-requests FILE files.requests
            Write a line of JSON for each request: where it went, why, and its times.
          --log-format HOW files.log
            Format of the log on standard error: text or json (default: text).
          --traces URL files.traces
            Send a trace of each request to OpenTelemetry, as in http://127.0.0.1:4318/v1/traces.
          --worker-key KEY routing.worker-key
            Key to send to workers, as env:NAME or file:PATH; a key on the command line shows in
            the list of processes.
          --api-keys FILE listen.api-keys
            API keys, one per line: tenant, SHA-256 of the key, and optionally admin,
            per-minute=N, tokens-per-minute=N, at-once=N. Tenants never share a block (default:
            no key is needed).
          """
              .formatted(
                  String.join(", ", PickPolicy.NAMES), String.join(", ", PlacementPolicy.NAMES)));

  @Spec
  void addTo(CommandSpec command) {
    options.addTo(command);
  }

  /** Returns whether the key itself was given, rather than a reference to it. */
  boolean showsWorkerKey() {
    var key = options.value(WORKER_KEY);
    return key != null && !Secret.isReference(key);
  }

  /** Returns the given options as one would have written them in a file. */
  GivenOptions given() {
    return options.given();
  }
}
