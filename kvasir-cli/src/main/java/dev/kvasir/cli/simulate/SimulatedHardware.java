package dev.kvasir.cli.simulate;

import dev.kvasir.Nullable;
import dev.kvasir.cli.settings.HardwareSettings;
import dev.kvasir.sim.calibrate.Profile;
import dev.kvasir.sim.calibrate.ProfileJson;
import dev.kvasir.sim.latency.Hardware;
import dev.kvasir.sim.latency.HardwareTable;
import dev.kvasir.sim.latency.KvBytes;
import dev.kvasir.sim.latency.KvCapacity;
import dev.kvasir.sim.latency.LatencyModel;
import dev.kvasir.sim.latency.LatencyModels;
import dev.kvasir.sim.latency.ModelConfigFile;
import dev.kvasir.sim.latency.ModelDeployment;
import dev.kvasir.sim.latency.ModelSizes;
import dev.kvasir.sim.transfer.TierLink;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Latency of a model on the hardware of a deployment, and the memory that the model leaves. */
public final class SimulatedHardware {
  private final HardwareSettings settings;

  public SimulatedHardware(HardwareSettings settings) {
    this.settings = settings;
  }

  /** Returns whether steps take as long as in the last version of BLIS that had a linear model. */
  boolean isBlackbox() {
    var name = settings.latencyModel();
    return name.equals("blackbox") || name.equals("linear");
  }

  /** GPUs of an engine. */
  int gpus() {
    return settings.tp();
  }

  /** Returns the calibrated profile of the deployment, or null if there is none. */
  @Nullable
  Profile profile() throws IOException {
    var file = settings.profile();
    if (file == null) return null;
    try (var text = Files.newBufferedReader(file)) {
      return ProfileJson.read(text, file.toString());
    }
  }

  /** Returns the model of the time of a step. */
  public LatencyModel model() throws IOException {
    var profile = profile();
    if (profile != null) return profile.model();
    return LatencyModels.named(
        settings.latencyModel(),
        settings.alphaCoeffs(),
        settings.betaCoeffs(),
        isBlackbox() ? null : deployment());
  }

  /** As many blocks as fit into the memory that weights and activations leave. */
  public int blocks(int blockTokens) throws IOException {
    long blocks = capacity().blocks(blockTokens);
    if (blocks < 1 || blocks > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          "the model leaves room for "
              + blocks
              + " KV blocks; use more GPUs with --tp, or give --total-kv-blocks");
    }
    return (int) blocks;
  }

  /** The same by the formula of BLIS, which counts too many where several GPUs share a model. */
  int blocksAsBlisCounts(int blockTokens) throws IOException {
    return (int) capacity().blocksOfOneShard(blockTokens);
  }

  /**
   * Returns the bytes of the K and V of a token on all GPUs of an engine, or 0 if the model is
   * unknown.
   */
  long knownBytesPerToken() throws IOException {
    long written = writtenBytesPerToken();
    if (written > 0) return written;
    return isBlackbox() ? 0 : modelBytesPerToken();
  }

  /** The same; where nobody knows the model, that of the default one. */
  long bytesPerToken() throws IOException {
    long written = writtenBytesPerToken();
    return written > 0 ? written : Math.max(1, modelBytesPerToken());
  }

  private long modelBytesPerToken() throws IOException {
    return (long) (capacity().tokenBytesPerGpu() * gpus());
  }

  private long writtenBytesPerToken() {
    var written = settings.kvBytesPerToken();
    try {
      return written.isEmpty() ? 0 : KvBytes.parse(written);
    } catch (IllegalArgumentException wrong) {
      throw new IllegalArgumentException(
          "hardware.kv-bytes-per-token " + wrong.getMessage(), wrong);
    }
  }

  private KvCapacity capacity() throws IOException {
    return new KvCapacity(deployment(), settings.memoryUtilization());
  }

  /**
   * Returns the link between such a GPU and host memory: GPUs before the H100 have a bus of
   * generation 4.
   */
  TierLink hostLink() {
    var gpu = settings.gpuOrDefault();
    boolean isOlder = gpu.startsWith("A100") || gpu.equals("L40S");
    return TierLink.named(isOlder ? "pcie4-x16" : "pcie5-x16");
  }

  /** The longest text that the model can read, 0 where that is not known. */
  public int contextTokens() throws IOException {
    return shape().vocabulary().contextMax();
  }

  private ModelDeployment deployment() throws IOException {
    return new ModelDeployment(shape(), gpu(), gpus());
  }

  private Hardware gpu() throws IOException {
    var file = settings.table();
    if (file == null) return HardwareTable.known().find(settings.gpuOrDefault());
    try (var table = Files.newBufferedReader(file)) {
      return HardwareTable.read(table, file.toString()).find(settings.gpuOrDefault());
    }
  }

  private ModelSizes shape() throws IOException {
    var named = settings.modelConfig();
    if (named == null) return ModelSizes.LLAMA_8B;
    var places = places(named);
    for (var place : places) {
      if (!Files.isRegularFile(place)) continue;
      try (var config = Files.newBufferedReader(place)) {
        return ModelConfigFile.read(config, place.toString());
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
    var model = settings.model();
    if (!model.isEmpty()) {
      places.add(named.resolve(model.substring(model.lastIndexOf('/') + 1) + ".config.json"));
    }
    var table = settings.table();
    if (table != null) places.add(table.resolveSibling(file));
    return places;
  }
}
