package dev.kvasir.cli.settings;

import static java.lang.System.Logger.Level.WARNING;

import dev.kvasir.Nullable;
import dev.kvasir.Records;
import dev.kvasir.cli.config.Choices;
import dev.kvasir.embedded.EngineGroupSettings;
import dev.kvasir.embedded.LoadedModel;
import dev.kvasir.engine.EngineSettings;
import dev.kvasir.engine.PlanningSettings;
import dev.kvasir.engine.SchedulingPolicy;
import dev.kvasir.gpu.CudaAnswer;
import dev.kvasir.gpu.CudaDriver;
import dev.kvasir.gpu.engine.GpuDevice;
import dev.kvasir.gpu.engine.GpuUnavailable;
import dev.kvasir.kv.EvictionLimits;
import dev.kvasir.kv.evict.Eviction;
import dev.kvasir.model.BuiltInModel;
import dev.kvasir.model.ModelShape;
import dev.kvasir.model.gguf.ModelFileException;
import dev.kvasir.sim.cache.ClairvoyantReplay;
import dev.kvasir.sim.cluster.ClusterSpec;
import dev.kvasir.tiers.TieredCacheSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * The engines: those that serve embeds where no workers are named, and what the simulator takes for
 * an engine of a worker.
 *
 * @param model a GGUF file, or a folder with safetensors; null for the built-in model
 * @param loadFormat which weights the model has
 * @param count how many engines prefill and decode
 * @param prefill how many only prefill, besides these
 * @param decode how many only decode, besides these
 * @param threads how many threads compute; 0 for as many as there are processors
 * @param device what computes
 * @param totalKvBlocks KV blocks of each engine; 0 for 512 in embedded engines, and for what the
 *     GPU has room for in others
 * @param blockSize tokens of a block
 * @param eviction which cached block goes first
 * @param ttl how long a block stays that nobody uses, on every tier; zero for no limit
 * @param pinnedShare the largest share of a tier that requests may pin; 0 for none
 * @param sequencesMax the most requests in a batch
 * @param stepTokensMax the most tokens in a step; 0 for 512 in embedded engines, 2048 in others
 * @param chunkTokensMax the most tokens of one prompt in a step; 0 for no limit of its own
 * @param contextTokensMax the longest request, output included; 0 for what the model reads
 * @param scheduler who is admitted first
 * @param preemption who makes room when memory runs out
 * @param planning when a step is planned
 * @param planningCost what planning takes for each look at a sequence, for the simulator
 * @param sharing what the engines share; null for tiers and processor in embedded engines, and for
 *     nothing in others
 * @param groups engines that differ, for the simulator; none where all are equal
 */
public record EnginesSettings(
    @Nullable Path model,
    LoadFormat loadFormat,
    int count,
    int prefill,
    int decode,
    int threads,
    Device device,
    int totalKvBlocks,
    int blockSize,
    String eviction,
    Duration ttl,
    double pinnedShare,
    int sequencesMax,
    int stepTokensMax,
    int chunkTokensMax,
    int contextTokensMax,
    SchedulingPolicy scheduler,
    EngineSettings.Victim preemption,
    PlanningSettings.Mode planning,
    Duration planningCost,
    @Nullable List<ClusterSpec.Shared> sharing,
    EngineGroups groups) {
  public static final EnginesSettings DEFAULT =
      new EnginesSettings(
          null,
          LoadFormat.AUTO,
          2,
          0,
          0,
          0,
          Device.AUTO,
          0,
          ModelShape.BLOCK_TOKENS,
          Eviction.NAMES.getFirst(),
          Duration.ZERO,
          0,
          EngineSettings.DEFAULT.sequencesMax(),
          0,
          0,
          0,
          SchedulingPolicy.FIRST_COME,
          EngineSettings.Victim.NEWEST,
          PlanningSettings.Mode.REPAIR,
          Duration.ZERO,
          null,
          EngineGroups.NONE);

  /** Devices on which embedded engines compute. */
  public enum Device {
    /** A GPU where there is one that can. */
    AUTO,
    CPU,
    GPU
  }

  /** Weights with which embedded engines compute, named as in vLLM. */
  public enum LoadFormat {
    /** Those of the file. */
    AUTO,
    /** Made-up ones in the shape of the file, to measure with; on a GPU. */
    DUMMY
  }

  private static final System.Logger LOG = System.getLogger(EnginesSettings.class.getName());

  /** KV blocks of an embedded engine where nothing is written. */
  public static final int EMBEDDED_BLOCKS = 512;

  /** The same on a GPU. */
  private static final int GPU_BLOCKS = 4_096;

  /** Tokens of a step on a GPU where nothing is written. */
  private static final int GPU_STEP_TOKENS = 8_192;

  /** Tokens of a step of an embedded engine where nothing is written. */
  public static final int EMBEDDED_STEP_TOKENS = 512;

  private static final int FINGERPRINT_SHOWN = 12;

  public EnginesSettings {
    sharing = sharing == null ? null : List.copyOf(sharing);
    if (!eviction.equals(ClairvoyantReplay.NAME)) {
      Choices.require("eviction", eviction, Eviction.NAMES);
    }
    EvictionLimits.check(ttl, pinnedShare);
    Choices.atLeast("count", count, 0);
    Choices.atLeast("prefill", prefill, 0);
    Choices.atLeast("decode", decode, 0);
    Choices.atLeast("threads", threads, 0);
    Choices.atLeast("total-kv-blocks", totalKvBlocks, 0);
    Choices.atLeast("block-size", blockSize, 1);
    Choices.atLeast("sequences-max", sequencesMax, 1);
    Choices.atLeast("step-tokens-max", stepTokensMax, 0);
    Choices.atLeast("chunk-tokens-max", chunkTokensMax, 0);
    Choices.atLeast("context-tokens-max", contextTokensMax, 0);
    boolean isNobodyThere =
        groups.isEmpty() ? count + prefill + decode < 1 : groups.present().isEmpty();
    if (isNobodyThere) throw new IllegalArgumentException("there are no engines");
  }

  /** The KV blocks of an embedded engine. */
  public int embeddedBlocks() {
    return totalKvBlocks == 0 ? EMBEDDED_BLOCKS : totalKvBlocks;
  }

  /** Returns whether an engine orders requests by their class. */
  public boolean isByPriority() {
    return scheduler == SchedulingPolicy.PRIORITY || scheduler == SchedulingPolicy.REVERSE_PRIORITY;
  }

  /** As many of these engines, instead of two. */
  EnginesSettings times(int other) {
    return Records.with(this, "count", other);
  }

  /**
   * Returns the settings for how an engine forms its batches.
   *
   * @param stepTokens the most tokens in a step where nothing is written
   */
  public EngineSettings batches(int stepTokens) {
    return new EngineSettings(
        sequencesMax,
        stepTokensMax == 0 ? stepTokens : stepTokensMax,
        chunkTokensMax,
        contextTokensMax,
        scheduler,
        preemption,
        new PlanningSettings(planning, planningCost.toNanos()),
        EngineSettings.Room.FIRST_CHUNK);
  }

  /** Loads the model to what computes. */
  public LoadedModel load(Path folder) throws IOException {
    if (device == Device.CPU) return onProcessor(folder);
    var answer = CudaDriver.probe(CudaDriver.LIBRARY);
    if (device == Device.GPU) return onGpu(answer, folder);
    if (!(answer instanceof CudaAnswer.Answered ready) || ready.gpus().isEmpty()) {
      return onProcessor(folder);
    }
    try {
      return onGpu(answer, folder);
    } catch (GpuUnavailable | ModelFileException unavailable) {
      if (isForGpuAlone()) throw unavailable;
      LOG.log(WARNING, "computing on the processor: {0}", unavailable.getMessage());
      return onProcessor(folder);
    }
  }

  /** Returns whether the model cannot be computed on a processor and needs a GPU. */
  private boolean isForGpuAlone() {
    return loadFormat == LoadFormat.DUMMY || (model != null && Files.isDirectory(model));
  }

  private LoadedModel onProcessor(Path folder) throws ModelFileException {
    int computing = threads > 0 ? threads : Runtime.getRuntime().availableProcessors();
    var file = model;
    if (loadFormat == LoadFormat.DUMMY) {
      throw new IllegalArgumentException(
          "engines.load-format dummy: only on a GPU (--device gpu says why there is none)");
    }
    if (file != null && Files.isDirectory(file)) {
      throw new ModelFileException(
          file,
          "a folder with safetensors computes on a GPU alone (--device gpu says why there is none)",
          "use a GGUF file, or a GPU");
    }
    if (file == null) return LoadedModel.builtIn(folder, computing);
    var last = String.valueOf(file.getFileName());
    return LoadedModel.open(last.replaceFirst("\\.gguf$", ""), file, computing);
  }

  private LoadedModel onGpu(CudaAnswer answer, Path folder) throws IOException {
    var file = model == null ? BuiltInModel.file(folder) : model;
    int each = totalKvBlocks == 0 ? GPU_BLOCKS : totalKvBlocks;
    var settings =
        new GpuDevice.Settings(
            Math.multiplyExact(count, each),
            stepTokensMax == 0 ? GPU_STEP_TOKENS : stepTokensMax,
            sequencesMax,
            folder.resolve("kernels"),
            loadFormat == LoadFormat.DUMMY ? GpuDevice.Weights.DUMMY : GpuDevice.Weights.OF_FILE);
    var gpu = GpuDevice.open(answer, file, settings);
    try {
      return LoadedModel.on(gpu, model, folder);
    } catch (ModelFileException | RuntimeException e) {
      gpu.close();
      throw e;
    }
  }

  /**
   * Returns the settings of such engines with that model; blocks on disk are in the folder, in a
   * subfolder for each model.
   */
  public EngineGroupSettings group(
      LoadedModel loaded, TieredCacheSettings tieredCache, Path folder) {
    requireEmbedded();
    var print = loaded.served().fingerprint().replaceFirst("^gguf sha256 ", "");
    var name = "kv-" + print.substring(0, Math.min(FINGERPRINT_SHOWN, print.length()));
    boolean isGpu = loaded.device() instanceof GpuDevice;
    return new EngineGroupSettings(
        count,
        isGpu && totalKvBlocks == 0 ? GPU_BLOCKS : embeddedBlocks(),
        tieredCache,
        folder.resolve(name),
        batches(isGpu ? GPU_STEP_TOKENS : EMBEDDED_STEP_TOKENS),
        eviction,
        limits());
  }

  /** Returns the limits that apply in addition to eviction. */
  public EvictionLimits limits() {
    return new EvictionLimits(ttl, pinnedShare);
  }

  /** Refuses what can be simulated and what embedded engines cannot do. */
  public void requireEmbedded() {
    if (!groups.isEmpty()) {
      throw new IllegalArgumentException(
          EngineGroups.PATH + ": embedded engines are equal; groups are for kvasir simulate");
    }
    if (prefill + decode > 0) {
      throw new IllegalArgumentException(
          "engines.prefill %d, engines.decode %d: embedded engines do both; use engines.count"
              .formatted(prefill, decode));
    }
    if (blockSize != ModelShape.BLOCK_TOKENS) {
      throw new IllegalArgumentException(
          "engines.block-size %d: blocks of embedded engines have %d tokens"
              .formatted(blockSize, ModelShape.BLOCK_TOKENS));
    }
    if (eviction.equals(ClairvoyantReplay.NAME)) {
      throw new IllegalArgumentException(
          "engines.eviction %s: it needs to know the requests to come; only simulate --cache-only"
                  .formatted(eviction)
              + " can do that");
    }
  }
}
