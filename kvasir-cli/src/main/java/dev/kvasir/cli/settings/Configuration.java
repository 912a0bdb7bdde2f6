package dev.kvasir.cli.settings;

import dev.kvasir.Nullable;
import dev.kvasir.cli.config.KeyPaths;
import dev.kvasir.cli.config.RecordReader;
import dev.kvasir.cli.config.YamlFile;
import dev.kvasir.spec.SpecError;
import dev.kvasir.spec.Written;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Sources of the settings. Precedence: {@code flags > environment > file > defaults}.
 *
 * @param file null for none
 * @param options what the options say, as one would have written it in a file
 */
public record Configuration(
    @Nullable Path file, Map<String, String> environment, Written.Keys options) {
  private static final String WORKERS = "KVASIR_WORKERS";
  private static final String TIERS = "tiers";
  private static final String ENGINES = "engines";
  private static final String GROUPS = "groups";

  /** Sections for the simulator alone; they describe no deployment. */
  private static final List<String> QUESTIONS = List.of("workload", "sweep");

  /** Keys that count engines; they replace the workers of a lower layer. */
  private static final List<String> COUNTS = List.of("count", "prefill", "decode");

  /** The deployment as it is written now. */
  public Deployment read() throws IOException {
    var origin = Written.Origin.of("the command line");
    var written = file == null ? Written.Keys.none(origin) : YamlFile.read(file);
    return deployment(Deployment.DEFAULT, List.of(bare(written), variables(environment), options));
  }

  /** A file without the sections for the simulator. */
  public static Written.Keys bare(Written.Keys file) {
    var values = new LinkedHashMap<>(file.values());
    QUESTIONS.forEach(values::remove);
    return new Written.Keys(values, file.origin());
  }

  /** The layers as one, over these defaults; a later layer goes before those in front of it. */
  public static Deployment deployment(Deployment defaults, List<Written.Keys> layers) {
    return RecordReader.read(merged(defaults, layers), defaults);
  }

  /** Merges the keys of all layers, with tiers by their kind. */
  public static Written.Keys merged(Deployment defaults, List<Written.Keys> layers) {
    var all = Written.Keys.none(Written.Origin.of("the command line"));
    for (var layer : layers) {
      boolean isGrouped = layer.has(EngineGroups.PATH);
      boolean isCounted = countsEngines(layer);
      if (isGrouped && isCounted) throw both(layer);
      if (isGrouped || isCounted) all = all.without("workers");
      // Groups replace the engines that a lower layer counts.
      if (isGrouped) all = withoutEngines(all, COUNTS);
      if (isCounted) all = withoutEngines(all, List.of(GROUPS));
      var tiers = layer.values().get(TIERS);
      boolean isList = tiers != null && !(tiers instanceof Written.Keys);
      if (tiers == null || !isList) {
        all = all.under(layer);
      } else {
        all = all.without(TIERS).under(layer.without(TIERS)).with(TIERS, TierList.named(tiers));
      }
    }
    return withDefaultTiers(defaults, all, layers);
  }

  private static SpecError both(Written.Keys layer) {
    return new SpecError(
        layer.origin().place() + ": engines",
        "both groups and " + String.join(", ", COUNTS) + " are written",
        "give each group its count, and leave the others out");
  }

  private static Written.Keys withoutEngines(Written.Keys all, List<String> keys) {
    if (!(all.values().get(ENGINES) instanceof Written.Keys engines)) return all;
    for (var key : keys) engines = engines.without(key);
    return all.without(ENGINES).with(ENGINES, engines);
  }

  private static boolean countsEngines(Written.Keys layer) {
    return !layer.values().containsKey("workers")
        && layer.values().get(ENGINES) instanceof Written.Keys engines
        && COUNTS.stream().anyMatch(engines.values()::containsKey);
  }

  /** Adds the default tiers if no layer lists tiers. */
  private static Written.Keys withDefaultTiers(
      Deployment defaults, Written.Keys all, List<Written.Keys> layers) {
    for (var layer : layers) {
      var tiers = layer.values().get(TIERS);
      if (tiers != null && !(tiers instanceof Written.Keys)) return all;
    }
    var described = RecordReader.read(all.without(TIERS), defaults);
    var usual = described.isEmbedded() ? TierList.EMBEDDED : TierList.NONE;
    return Written.Keys.none(all.origin()).with(TIERS, usual.written()).under(all);
  }

  /** Returns the keys that the environment sets: there is a variable for each key. */
  public static Written.Keys variables(Map<String, String> environment) {
    var written = Written.Keys.none(Written.Origin.of("the environment"));
    for (var key : KeyPaths.of(Deployment.DEFAULT)) {
      var value = environment.get(key.variable());
      if (value == null || key.isOfList()) continue;
      var origin = Written.Origin.of(key.variable());
      written = written.with(key.path(), new Written.Text(value, origin));
    }
    var named = environment.getOrDefault(WORKERS, "").strip();
    if (named.isEmpty()) return written;
    return written.with("workers", workers(WORKERS, List.of(named.split("\\s+", -1))));
  }

  /** Workers that are written as {@code URL[,key=value …]}. */
  public static Written.Items workers(String place, List<String> texts) {
    var origin = Written.Origin.of(place);
    var workers = new ArrayList<Written>();
    for (var text : texts) workers.add(WorkerSettings.written(text, origin));
    return new Written.Items(workers, origin);
  }
}
