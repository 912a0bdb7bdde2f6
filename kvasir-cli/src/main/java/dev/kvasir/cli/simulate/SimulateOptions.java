package dev.kvasir.cli.simulate;

import dev.kvasir.Nullable;
import java.nio.file.Path;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Everything that can be said about a simulation. */
final class SimulateOptions {
  @Option(
      names = "--scenario",
      paramLabel = "FILE",
      description = "A YAML file with a workload and settings; options given here go before it.")
  @Nullable
  Path scenario;

  @Mixin WorkloadOptions workload = new WorkloadOptions();

  @Mixin ModelOptions model = new ModelOptions();

  @Mixin MemoryOptions memory = new MemoryOptions();

  @Mixin EngineOptions engine = new EngineOptions();

  @Mixin RoutingOptions routing = new RoutingOptions();

  @Mixin OutputOptions output = new OutputOptions();

  @Mixin CostOptions cost = new CostOptions();

  @Option(
      names = "--compat",
      paramLabel = "blis",
      description = "Be like BLIS in every detail, to compare with it.")
  private @Nullable String compat;

  @Option(
      names = "--cache-only",
      description = "No engine and no time: what a cache of that size alone would find.")
  boolean cacheOnly;

  boolean isBlis() {
    if (compat == null) return false;
    if (compat.equals("blis")) return true;
    throw new IllegalArgumentException("--compat " + compat + "; there is only blis");
  }
}
