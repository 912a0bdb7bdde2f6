package dev.kvasir.cli.serve;

import dev.kvasir.Nullable;
import dev.kvasir.cli.config.Said;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The engines that answer where no workers are named; each option is a key of the file. */
@Command(optionListHeading = "%nEmbedded engines, without --worker:%n")
final class EmbeddedOptions {
  @Option(
      names = "--model",
      paramLabel = "FILE",
      description =
          "GGUF file of the model, or for a GPU a folder with safetensors (default: the built-in"
              + " model, a pocket dictionary).")
  private @Nullable String model;

  @Option(
      names = "--load-format",
      paramLabel = "NAME",
      description =
          "Weights of the model: auto for those of the file, dummy for made-up ones in its shape,"
              + " to measure a GPU (default: auto).")
  private @Nullable String loadFormat;

  @Option(
      names = "--engines",
      paramLabel = "N",
      description = "Number of engines; they share the model (default: 2).")
  private @Nullable String engines;

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "Threads that compute (default: one per processor).")
  private @Nullable String threads;

  @Option(
      names = "--device",
      paramLabel = "NAME",
      description = "What computes: auto, cpu or gpu; auto takes a GPU that can (default: auto).")
  private @Nullable String device;

  @Option(
      names = {"--total-kv-blocks", "--device-blocks"},
      paramLabel = "N",
      description = "KV blocks of 16 tokens of each engine (default: 512; on a GPU 4096).")
  private @Nullable String deviceBlocks;

  @Option(
      names = "--host-blocks",
      paramLabel = "N",
      description =
          "KV blocks in host memory, shared by all engines; 0 for no tiers (default: 2048).")
  private @Nullable String hostBlocks;

  @Option(
      names = "--disk-blocks",
      paramLabel = "N",
      description = "KV blocks on disk, shared by all engines; 0 for no disk tier (default: 4096).")
  private @Nullable String diskBlocks;

  @Option(
      names = "--cache-dir",
      paramLabel = "DIR",
      description =
          "Folder where the disk tier, the built-in model and the tenant secret are kept (default:"
              + " ~/.cache/kvasir).")
  private @Nullable String cacheFolder;

  @Option(
      names = "--planning",
      paramLabel = "MODE",
      description = "When steps are planned: sequential, discard or repair (default: repair).")
  private @Nullable String planning;

  /** What was said, as one would have written it in a file. */
  Said said() {
    return Said.NOTHING
        .with("--model", "engines.model", model)
        .with("--load-format", "engines.load-format", loadFormat)
        .with("--engines", "engines.count", engines)
        .with("--threads", "engines.threads", threads)
        .with("--device", "engines.device", device)
        .with("--total-kv-blocks", "engines.total-kv-blocks", deviceBlocks)
        .with("--host-blocks", "tiers.host.blocks", hostBlocks)
        .with("--disk-blocks", "tiers.disk.blocks", diskBlocks)
        .with("--cache-dir", "cache", cacheFolder)
        .with("--planning", "engines.planning", planning);
  }
}
