package dev.kvasir.cli.serve;

import dev.kvasir.Nullable;
import dev.kvasir.engine.EngineSettings;
import dev.kvasir.engine.PlanningMode;
import dev.kvasir.engine.PlanningSettings;
import dev.kvasir.live.engine.EngineGroupSettings;
import dev.kvasir.live.engine.LoadedModel;
import dev.kvasir.live.model.gguf.ModelFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The engines that answer where no workers are named. */
@Command(optionListHeading = "%nEmbedded engines, where there is no --worker:%n")
final class EmbeddedOptions {
  private static final int STEP_TOKENS_MAX = 512;
  private static final int FINGERPRINT_SHOWN = 12;

  @Option(
      names = "--model",
      paramLabel = "FILE",
      description = "A GGUF file. Usually the built-in model, a pocket dictionary.")
  private @Nullable Path model;

  @Option(
      names = "--engines",
      paramLabel = "N",
      description = "How many share the model. Usually ${DEFAULT-VALUE}.")
  private int engines = 2;

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "Threads that compute. Usually as many as there are processors.")
  private int threads = Runtime.getRuntime().availableProcessors();

  @Option(
      names = "--device-blocks",
      paramLabel = "N",
      description = "KV blocks of 16 tokens that each engine computes in. Usually 512.")
  private int deviceBlocks = 512;

  @Option(
      names = "--host-blocks",
      paramLabel = "N",
      description = "KV blocks in host memory that all share; 0 for none. Usually 2048.")
  private int hostBlocks = 2_048;

  @Option(
      names = "--disk-blocks",
      paramLabel = "N",
      description = "KV blocks on disk that all share; 0 for none. Usually 4096.")
  private int diskBlocks = 4_096;

  @Option(
      names = "--cache-dir",
      paramLabel = "DIR",
      description = "Where the disk tier and the built-in model lie. Usually ~/.cache/kvasir.")
  private @Nullable Path cacheFolder;

  @Option(
      names = "--planning",
      paramLabel = "MODE",
      description = "When steps are planned: sequential, discard or repair. Usually repair.")
  private String planning = "repair";

  LoadedModel load(Path usualFolder) throws ModelFileException {
    var file = model;
    if (file == null) return LoadedModel.builtIn(folder(usualFolder), threads);
    var last = String.valueOf(file.getFileName());
    return LoadedModel.open(last.replaceFirst("\\.gguf$", ""), file, threads);
  }

  EngineGroupSettings settings(LoadedModel loaded, Path usualFolder) {
    var print = loaded.served().fingerprint().replaceFirst("^gguf sha256 ", "");
    var name = "kv-" + print.substring(0, Math.min(FINGERPRINT_SHOWN, print.length()));
    var engine =
        new EngineSettings(
            EngineSettings.DEFAULT.sequencesMax(),
            STEP_TOKENS_MAX,
            0,
            0,
            EngineSettings.DEFAULT.order(),
            EngineSettings.DEFAULT.victim(),
            EngineSettings.DEFAULT.quirks(),
            PlanningSettings.of(mode()));
    var folder = folder(usualFolder).resolve(name);
    return new EngineGroupSettings(
        engines, deviceBlocks, hostBlocks, hostBlocks == 0 ? 0 : diskBlocks, folder, engine);
  }

  private Path folder(Path usual) {
    var named = cacheFolder;
    return named == null ? usual : named;
  }

  private PlanningMode mode() {
    for (var mode : PlanningMode.values()) {
      if (mode.name().equalsIgnoreCase(planning)) return mode;
    }
    var modes = Arrays.stream(PlanningMode.values()).map(Enum::name).toList().toString();
    throw new IllegalArgumentException(
        "--planning " + planning + ", expected one of " + modes.toLowerCase(Locale.ROOT));
  }
}
