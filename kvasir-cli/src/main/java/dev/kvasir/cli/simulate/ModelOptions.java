package dev.kvasir.cli.simulate;

import dev.kvasir.Nullable;
import dev.kvasir.sim.TierLink;
import dev.kvasir.sim.latency.Deployment;
import dev.kvasir.sim.latency.Hardware;
import dev.kvasir.sim.latency.HardwareTable;
import dev.kvasir.sim.latency.KvCapacity;
import dev.kvasir.sim.latency.LatencyFit;
import dev.kvasir.sim.latency.LatencyModel;
import dev.kvasir.sim.latency.LatencyModels;
import dev.kvasir.sim.latency.Measurements;
import dev.kvasir.sim.latency.ModelConfig;
import dev.kvasir.sim.latency.ModelShape;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** How long the simulated model takes, and how much memory it leaves. */
@Command(optionListHeading = "%nModel and GPU:%n")
public final class ModelOptions {
  @Option(
      names = "--latency-model",
      paramLabel = "NAME",
      description = "linear, roofline or trained-physics. Usually ${DEFAULT-VALUE}.")
  private String latencyModel = "trained-physics";

  @Option(
      names = "--alpha-coeffs",
      paramLabel = "A,A,A",
      split = ",",
      description = "Times around the steps, in microseconds.")
  private List<Double> alphas = List.of();

  @Option(
      names = "--beta-coeffs",
      paramLabel = "B,B,…",
      split = ",",
      description =
          "Coefficients of a step; linear takes step, prefill and decode"
              + " token, and perhaps what each token of context adds to these two.")
  private List<Double> betas = List.of();

  @Option(
      names = "--fit",
      paramLabel = "FILE",
      description = "Your own measurements, CSV or JSONL, to fit a linear model to.")
  private @Nullable Path fit;

  @Option(
      names = "--model",
      paramLabel = "NAME",
      description = "The model's name; its part after the slash names a config beside others.")
  private String model = "";

  @Option(
      names = {"--model-config", "--model-config-folder"},
      paramLabel = "PATH",
      description = "The model's config.json, or its folder. Usually a model of 8 billion.")
  private @Nullable Path modelConfig;

  @Option(
      names = "--hardware-config",
      paramLabel = "FILE",
      description = "Figures of GPUs. Usually those of H100, A100 and L40S.")
  private @Nullable Path hardwareConfig;

  @Option(
      names = "--hardware",
      paramLabel = "GPU",
      description = "The GPU of an instance. Usually ${DEFAULT-VALUE}.")
  private String hardware = "H100";

  @Option(
      names = "--tp",
      paramLabel = "N",
      description = "GPUs that share every layer. Usually ${DEFAULT-VALUE}.")
  private int gpus = 1;

  @Option(
      names = "--gpu-memory-utilization",
      paramLabel = "SHARE",
      description = "Share of GPU memory to use. Usually ${DEFAULT-VALUE}.")
  private double memoryShare = 0.9;

  /** Whether steps take as long as in the last edition of BLIS that had a linear model. */
  boolean isBlackbox() {
    return latencyModel.equals("blackbox") || latencyModel.equals("linear");
  }

  /** GPUs of an instance. */
  int gpus() {
    return gpus;
  }

  /** What a step takes; a fit says how good it is. */
  public LatencyModel model(PrintWriter err) throws IOException {
    var file = fit;
    if (file == null) {
      return LatencyModels.named(latencyModel, alphas, betas, needsShape() ? deployment() : null);
    }
    try (var rows = Files.newBufferedReader(file)) {
      var fitted = LatencyFit.of(Measurements.read(rows, file.toString()));
      err.println("kvasir: " + fitted.describe());
      return fitted.model();
    }
  }

  private boolean needsShape() {
    return !isBlackbox();
  }

  /** As many blocks as fit into the memory that weights and activations leave. */
  public int blocks(int blockTokens) throws IOException {
    long blocks = new KvCapacity(deployment(), memoryShare).blocks(blockTokens);
    if (blocks < 1 || blocks > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          "the model leaves room for "
              + blocks
              + " KV blocks; use more GPUs with --tp, or say --total-kv-blocks");
    }
    return (int) blocks;
  }

  /** The same by the formula of BLIS, which counts too many where several GPUs share a model. */
  int blocksAsBlisCounts(int blockTokens) throws IOException {
    return (int) new KvCapacity(deployment(), memoryShare).blocksOfOneShard(blockTokens);
  }

  /** What the K and V of a token take on all GPUs of an instance. */
  long bytesPerToken() throws IOException {
    return (long) (new KvCapacity(deployment(), memoryShare).tokenBytesPerGpu() * gpus);
  }

  /** How such a GPU reaches host memory: those before the H100 have a bus of the generation 4. */
  TierLink hostLink() {
    boolean isOlder = hardware.startsWith("A100") || hardware.equals("L40S");
    return TierLink.named(isOlder ? "pcie4-x16" : "pcie5-x16");
  }

  /** The longest text that the model can read, 0 where that is not known. */
  public int contextTokens() throws IOException {
    return shape().vocabulary().contextMax();
  }

  private Deployment deployment() throws IOException {
    return new Deployment(shape(), gpu(), gpus);
  }

  private Hardware gpu() throws IOException {
    var file = hardwareConfig;
    if (file == null) return HardwareTable.known().find(hardware);
    try (var table = Files.newBufferedReader(file)) {
      return HardwareTable.read(table, file.toString()).find(hardware);
    }
  }

  private ModelShape shape() throws IOException {
    var named = modelConfig;
    if (named == null) return ModelShape.LLAMA_8B;
    var places = places(named);
    for (var place : places) {
      if (!Files.isRegularFile(place)) continue;
      try (var config = Files.newBufferedReader(place)) {
        return ModelConfig.read(config, place.toString());
      }
    }
    throw new IllegalArgumentException(
        "no model config at any of " + places + "; name a config.json with --model-config");
  }

  /** The file itself, the file in the folder, or one that is called after the model. */
  private List<Path> places(Path named) {
    var places = new ArrayList<Path>();
    places.add(named);
    places.add(named.resolve("config.json"));
    var last = named.getFileName();
    var file = (last == null ? "" : last) + ".config.json";
    places.add(named.resolveSibling(file));
    if (!model.isEmpty()) {
      places.add(named.resolve(model.substring(model.lastIndexOf('/') + 1) + ".config.json"));
    }
    if (hardwareConfig != null) places.add(hardwareConfig.resolveSibling(file));
    return places;
  }
}
