package dev.kvasir.cli.serve;

import dev.kvasir.cli.config.GivenOptions;
import dev.kvasir.cli.config.KeyOptions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The engines that answer where no workers are named; each option is a key of the file. */
@Command(optionListHeading = "%nEmbedded engines, without --worker:%n")
final class EmbeddedOptions {
  private final KeyOptions options =
      new KeyOptions(
          """
          --model FILE engines.model
            GGUF file of the model, or for a GPU a folder with safetensors (default: the built-in
            model, a pocket dictionary).
          --load-format NAME engines.load-format
            Weights: auto for those of the file, dummy for random ones of the same shape, to
            benchmark a GPU (default: auto).
          --engines N engines.count
            Number of engines; they share the model (default: 2).
          --threads N engines.threads
            Threads that compute (default: one per processor).
          --device NAME engines.device
            Where to compute: auto, cpu or gpu; auto uses a GPU that can run the model (default:
            auto).
          --total-kv-blocks,--device-blocks N engines.total-kv-blocks
            KV blocks of 16 tokens of each engine (default: 512; on a GPU 4096).
          --host-blocks N tiers.host.blocks
            KV blocks in host memory, shared by all engines; 0 for no tiers (default: 2048).
          --disk-blocks N tiers.disk.blocks
            KV blocks on disk, shared by all engines; 0 for no disk tier (default: 4096).
          --cache-dir DIR cache
            Folder where the disk tier, the built-in model and the tenant secret are kept
            (default: ~/.cache/kvasir).
          --planning MODE engines.planning
            When steps are planned: sequential, discard or repair (default: repair).
          """);

  @Spec
  void addTo(CommandSpec command) {
    options.addTo(command);
  }

  /** Returns the given options as one would have written them in a file. */
  GivenOptions given() {
    return options.given();
  }
}
