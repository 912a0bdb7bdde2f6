package dev.kvasir.cli.serve;

import dev.kvasir.Nullable;
import dev.kvasir.cli.config.GivenOptions;
import dev.kvasir.cli.settings.Configuration;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** All options of serving, in the parts that help shows. */
final class ServeOptions {
  @Option(
      names = "--worker",
      paramLabel = "URL[,key=value…]",
      description =
          "A vLLM, SGLang or other OpenAI-compatible server; repeatable. Keys: name, role (both,"
              + " prefill, decode), connector (none, nixl, mooncake, sglang), bootstrap"
              + " (HOST:PORT), events and replay (tcp://HOST:PORT of its KV events), rank, tier,"
              + " tier-replay.")
  private List<String> workers = new ArrayList<>();

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description =
          "Settings in YAML; options and KVASIR_… variables override them. Workers and keys are"
              + " reloaded when the file changes.")
  private @Nullable Path config;

  /** Options that only one command has. */
  private GivenOptions more = GivenOptions.NOTHING;

  @Mixin private GatewayOptions gateway = new GatewayOptions();
  @Mixin private EmbeddedOptions engines = new EmbeddedOptions();

  /** Adds an option that only one command has. */
  void add(String option, String key, @Nullable String value) {
    more = more.with(option, key, value);
  }

  /** Returns whether a secret is given in plain text where all users of the machine can read it. */
  boolean showsWorkerKey() {
    return gateway.showsWorkerKey();
  }

  /** Returns the sources of the settings. */
  Configuration configuration(Map<String, String> environment) {
    var given = gateway.given().keys().under(engines.given().keys()).under(more.keys());
    if (!workers.isEmpty())
      given = given.with("workers", Configuration.workers("--worker", workers));
    return new Configuration(config, environment, given);
  }
}
