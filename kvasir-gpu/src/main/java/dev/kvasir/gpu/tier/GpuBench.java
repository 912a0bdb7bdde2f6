package dev.kvasir.gpu.tier;

import dev.kvasir.gpu.CudaAnswer;
import dev.kvasir.gpu.CudaDriver;
import dev.kvasir.gpu.Direction;
import dev.kvasir.gpu.tier.GpuTrial.Lie;
import dev.kvasir.gpu.tier.GpuTrial.Path;
import dev.kvasir.tiers.bench.TierBench;
import dev.kvasir.tiers.bench.TierBench.Rate;
import dev.kvasir.tiers.bench.TierBench.Ratio;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Measures the edge between one GPU and the host, beside the limit of the link between them. */
public final class GpuBench {
  private static final double RUNS_GOAL = 0.97;
  private static final double SCATTERED_GOAL = 0.93;
  private static final double BOTH_GOAL = 1.7;

  private GpuBench() {}

  /** Measurements, or the reason why there are none. */
  record Found(List<Rate> rates, List<Ratio> ratios, List<Compared> compared, String gpu) {}

  /** The rate of blocks of one size, one direction and one way to lie. */
  record Compared(int kib, Direction direction, Lie lie, double gigabytesPerSecond) {}

  /** The report of the other tiers, with what was measured of this GPU in front. */
  public static TierBench.Report measure(TierBench.Report below, int gpu, int rounds)
      throws IOException {
    var found = run(CudaDriver.probe(CudaDriver.LIBRARY), gpu, rounds);
    return below.with(found.rates, found.ratios, found.gpu);
  }

  /** Measures with blocks of each size in turn; without a GPU there is only the reason. */
  static Found run(CudaAnswer answer, int gpu, int rounds) throws IOException {
    var rates = new ArrayList<Rate>();
    var ratios = new ArrayList<Ratio>();
    var compared = new ArrayList<Compared>();
    var name = "none";
    for (int blockBytes : GpuTrial.BLOCK_BYTES) {
      switch (GpuTrial.open(answer, gpu, blockBytes)) {
        case GpuTrial.Opening.Unavailable(String reason) -> {
          return new Found(rates, ratios, compared, "none measured, " + reason);
        }
        case GpuTrial.Opening.Ready(GpuTrial trial) -> {
          try (trial) {
            trial.round(); // What is compiled now is not measured.
            trial.forget();
            for (int round = 0; round < rounds; round++) trial.round();
            name = trial.name();
            rates.addAll(rates(trial));
            ratios.addAll(ratios(trial));
            compared.addAll(compared(trial));
          }
        }
      }
    }
    return new Found(rates, ratios, compared, name);
  }

  private static List<Compared> compared(GpuTrial trial) {
    var compared = new ArrayList<Compared>();
    for (var direction : Direction.values()) {
      for (var lie : Lie.values()) {
        double rate = trial.series(new Path(direction, lie)).middle();
        compared.add(new Compared(kib(trial), direction, lie, rate));
      }
    }
    return compared;
  }

  private static List<Rate> rates(GpuTrial trial) {
    var rates = new ArrayList<>(trial.rates());
    if (trial.blockBytes() == GpuTrial.BLOCK_BYTES.getLast()) {
      rates.addFirst(trial.limitOf(Direction.UP).rate("link up", trial.blockBytes()));
      rates.addFirst(trial.limitOf(Direction.DOWN).rate("link down", trial.blockBytes()));
    }
    return rates;
  }

  private static List<Ratio> ratios(GpuTrial trial) {
    var ratios = new ArrayList<Ratio>();
    for (var direction : Direction.values()) {
      for (var lie : Lie.values()) {
        var series = trial.series(new Path(direction, lie));
        double goal = lie == Lie.SIDE_BY_SIDE ? RUNS_GOAL : SCATTERED_GOAL;
        var what = name(direction, lie, trial);
        ratios.add(TierBench.ratio(what, series, trial.limitOf(direction), goal));
      }
    }
    for (var lie : Lie.values()) {
      var one = trial.series(new Path(Direction.DOWN, lie));
      var what =
          String.format(Locale.ROOT, "gpu both ways / one, %s, %d KiB", text(lie), kib(trial));
      ratios.add(TierBench.ratio(what, trial.both(lie), one, BOTH_GOAL));
    }
    return ratios;
  }

  private static String name(Direction direction, Lie lie, GpuTrial trial) {
    var call = direction == Direction.DOWN ? "store" : "load";
    return String.format(Locale.ROOT, "gpu %s / link, %s, %d KiB", call, text(lie), kib(trial));
  }

  private static String text(Lie lie) {
    return lie.name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }

  private static int kib(GpuTrial trial) {
    return trial.blockBytes() >> 10;
  }
}
