package dev.kvasir.cli.simulate;

import dev.kvasir.Nullable;
import java.nio.file.Path;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Option;

/** Everything that can be said about a simulation. */
final class SimulateOptions {
  @Option(
      names = "--scenario",
      paramLabel = "FILE",
      description = "A YAML file with a workload and settings; options given here go before it.")
  @Nullable
  Path scenario;

  @ArgGroup(validate = false, heading = "%nWhat is asked:%n")
  WorkloadOptions workload = new WorkloadOptions();

  @ArgGroup(validate = false, heading = "%nModel and GPU:%n")
  ModelOptions model = new ModelOptions();

  @ArgGroup(validate = false, heading = "%nKV memory:%n")
  MemoryOptions memory = new MemoryOptions();

  @ArgGroup(validate = false, heading = "%nEngine:%n")
  EngineOptions engine = new EngineOptions();

  @ArgGroup(validate = false, heading = "%nCluster:%n")
  RoutingOptions routing = new RoutingOptions();

  @ArgGroup(validate = false, heading = "%nWhat comes out:%n")
  OutputOptions output = new OutputOptions();

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
