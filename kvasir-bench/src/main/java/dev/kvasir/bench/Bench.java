package dev.kvasir.bench;

import java.util.Collection;
import java.util.Locale;
import java.util.TreeMap;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/** Runs benchmarks, with JMH's own options, and prints what counts: ratios and garbage. */
public final class Bench {
  private Bench() {}

  public static void main(String[] args) throws CommandLineOptionException, RunnerException {
    var options =
        new OptionsBuilder()
            .parent(new CommandLineOptions(args))
            .addProfiler(GCProfiler.class)
            .build();
    print(new Runner(options).run());
  }

  /** One line a case: what it is measured against is the baseline of the same length. */
  private static void print(Collection<RunResult> results) {
    var nanos = new TreeMap<String, Double>();
    for (var result : results) nanos.put(name(result) + length(result), score(result));
    System.out.printf("%n%-62s %10s %8s %8s%n", "case", "best ns", "ratio", "B/block");
    for (var result : results) {
      var baseline = nanos.get(baseline(name(result)) + length(result));
      System.out.printf(
          Locale.ROOT,
          "%-62s %10.2f %8s %8.1f%n",
          name(result) + parameters(result),
          score(result),
          baseline == null ? "" : String.format(Locale.ROOT, "%.2f", score(result) / baseline),
          garbage(result));
    }
  }

  private static double garbage(RunResult result) {
    var norm = result.getSecondaryResults().get("gc.alloc.rate.norm");
    return norm == null ? Double.NaN : norm.getScore();
  }

  /** Cases that go through several pools are measured against several maps. */
  private static String baseline(String name) {
    return switch (name) {
      case "BlockPoolBench.matchCached", "BlockPoolBench.release" ->
          "BlockPoolBench.hashMapGetInTurn";
      default -> "BlockPoolBench.hashMapGet";
    };
  }

  private static String name(RunResult result) {
    var benchmark = result.getParams().getBenchmark();
    return benchmark.substring(benchmark.lastIndexOf('.', benchmark.lastIndexOf('.') - 1) + 1);
  }

  private static String length(RunResult result) {
    var length = result.getParams().getParam("length");
    return length == null ? "" : " " + length;
  }

  private static String parameters(RunResult result) {
    var text = new StringBuilder();
    for (var key : result.getParams().getParamsKeys()) {
      text.append(' ').append(key).append('=').append(result.getParams().getParam(key));
    }
    return text.toString();
  }

  /** The best iteration: what others do on the machine can only make it slower. */
  private static double score(RunResult result) {
    return result.getPrimaryResult().getStatistics().getMin();
  }
}
