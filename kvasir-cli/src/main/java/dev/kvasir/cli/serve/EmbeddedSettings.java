package dev.kvasir.cli.serve;

import dev.kvasir.Nullable;
import dev.kvasir.engine.EngineSettings;
import dev.kvasir.engine.PlanningSettings;
import dev.kvasir.live.engine.EngineGroupSettings;
import dev.kvasir.live.engine.LadderSettings;
import dev.kvasir.live.engine.LoadedModel;
import dev.kvasir.live.model.gguf.ModelFileException;
import java.nio.file.Path;

/**
 * The engines that answer where no workers are named.
 *
 * @param model a GGUF file; null for the built-in model
 * @param count how many share the model
 * @param threads how many compute; 0 for as many as there are processors
 * @param deviceBlocks how many KV blocks each engine computes in
 * @param planning when steps are planned
 */
public record EmbeddedSettings(
    @Nullable Path model,
    int count,
    int threads,
    int deviceBlocks,
    PlanningSettings.Mode planning) {
  public static final EmbeddedSettings DEFAULT =
      new EmbeddedSettings(null, 2, 0, 512, PlanningSettings.Mode.REPAIR);

  static final int STEP_TOKENS_MAX = 512;

  private static final int FINGERPRINT_SHOWN = 12;

  public EmbeddedSettings {
    if (threads < 0) throw new IllegalArgumentException(threads + " threads");
    var _ = group(count, deviceBlocks, LadderSettings.of(0, 0), null, planning);
  }

  LoadedModel load(Path folder) throws ModelFileException {
    int crew = threads > 0 ? threads : Runtime.getRuntime().availableProcessors();
    var file = model;
    if (file == null) return LoadedModel.builtIn(folder, crew);
    var last = String.valueOf(file.getFileName());
    return LoadedModel.open(last.replaceFirst("\\.gguf$", ""), file, crew);
  }

  /** How such engines with that model work; blocks on disk lie in the folder, by their model. */
  EngineGroupSettings group(LoadedModel loaded, LadderSettings ladder, Path folder) {
    var print = loaded.served().fingerprint().replaceFirst("^gguf sha256 ", "");
    var name = "kv-" + print.substring(0, Math.min(FINGERPRINT_SHOWN, print.length()));
    return group(count, deviceBlocks, ladder, folder.resolve(name), planning);
  }

  private static EngineGroupSettings group(
      int count,
      int deviceBlocks,
      LadderSettings ladder,
      @Nullable Path folder,
      PlanningSettings.Mode planning) {
    var usual = EngineSettings.DEFAULT;
    var engine =
        new EngineSettings(
            usual.sequencesMax(),
            STEP_TOKENS_MAX,
            0,
            0,
            usual.order(),
            usual.victim(),
            usual.quirks(),
            PlanningSettings.of(planning));
    return new EngineGroupSettings(count, deviceBlocks, ladder, folder, engine);
  }
}
