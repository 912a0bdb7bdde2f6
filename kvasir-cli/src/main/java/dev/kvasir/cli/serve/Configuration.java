package dev.kvasir.cli.serve;

import dev.kvasir.Nullable;
import dev.kvasir.cli.config.KeyPaths;
import dev.kvasir.cli.config.RecordReader;
import dev.kvasir.cli.config.YamlFile;
import dev.kvasir.sim.spec.Written;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Where settings come from: options go before the environment, that before the file, and that
 * before what is usual.
 *
 * @param file null for none
 * @param said what the options say, as one would have written it in a file
 */
record Configuration(@Nullable Path file, Map<String, String> environment, Written.Keys said) {
  private static final String WORKERS = "KVASIR_WORKERS";

  /** The settings as they are now. */
  ServeSettings read() throws IOException {
    var written =
        file == null
            ? Written.Keys.none(Written.Origin.of("the command line"))
            : YamlFile.read(file);
    return RecordReader.read(written.under(variables()).under(said), ServeSettings.DEFAULT);
  }

  private Written.Keys variables() {
    var written = Written.Keys.none(Written.Origin.of("the environment"));
    for (var key : KeyPaths.of(ServeSettings.DEFAULT)) {
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
  static Written.Items workers(String place, List<String> texts) {
    var origin = Written.Origin.of(place);
    var workers = new ArrayList<Written>();
    for (var text : texts) workers.add(WorkerSettings.written(text, origin));
    return new Written.Items(workers, origin);
  }
}
