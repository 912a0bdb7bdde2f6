package dev.kvasir.cli.load;

import dev.kvasir.Nullable;
import dev.kvasir.tools.load.LoadTargets;
import java.nio.file.Path;
import java.time.Duration;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** All options of {@code load}. */
final class LoadOptions {
  @Mixin TargetOptions target = new TargetOptions();

  @Mixin RequestOptions requests = new RequestOptions();

  @Mixin Output output = new Output();

  /** Options for the output of a load test. */
  @Command(optionListHeading = "%nOutput:%n")
  static final class Output {
    @Option(names = "--json", description = "Write one JSON object, for programs.")
    boolean json;

    @Option(
        names = "--capture",
        paramLabel = "FILE",
        description =
            "Write lengths and times of the requests, as 'kvasir serve --capture' does, for"
                + " 'calibrate' and 'simulate'.")
    @Nullable
    Path capture;

    @Option(
        names = "--ttft-slo",
        paramLabel = "MS",
        description = "Target for the first token, for goodput.")
    private double ttftMillis;

    @Option(
        names = "--tpot-slo",
        paramLabel = "MS",
        description = "Target for each token after it, for goodput.")
    private double tpotMillis;

    LoadTargets targets() {
      return new LoadTargets(millis("--ttft-slo", ttftMillis), millis("--tpot-slo", tpotMillis));
    }

    private static Duration millis(String name, double millis) {
      if (!(millis >= 0)) throw new IllegalArgumentException(name + " " + millis + " ms");
      return Duration.ofNanos((long) (millis * 1e6));
    }
  }
}
