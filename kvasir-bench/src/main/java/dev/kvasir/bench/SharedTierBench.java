package dev.kvasir.bench;

import dev.kvasir.live.store.SealSettings;
import java.io.IOException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What the shared tiers make of a server, held against plain clients of it in turns of one run.
 *
 * <pre>
 *   SharedTierBench remote 127.0.0.1:6379          one server, nothing else on it
 *   SharedTierBench object http://127.0.0.1:80 bucket
 * </pre>
 */
public final class SharedTierBench {
  private static final int ROUNDS = Integer.getInteger("rounds", 5);
  private static final double GOAL = 0.8;

  /** One way to use a server. */
  interface Trial extends AutoCloseable {
    String name();

    /** Stores blocks that were never there; returns how many bytes of blocks. */
    long store() throws IOException;

    /** Loads what was last stored; returns how many bytes of blocks. */
    long load() throws IOException;

    @Override
    void close();
  }

  private SharedTierBench() {}

  public static void main(String[] arguments) throws Exception {
    int blockBytes = Integer.getInteger("block", 64 << 10);
    if (arguments.length == 2 && arguments[0].equals("remote")) {
      compare(RemoteTrials.all(arguments[1], blockBytes));
    } else if (arguments.length == 3 && arguments[0].equals("object")) {
      compare(ObjectTrials.all(arguments[1], arguments[2], blockBytes, SealSettings.CHECKSUM));
    } else {
      System.err.println("SharedTierBench remote HOST:PORT | object ENDPOINT BUCKET");
    }
  }

  /** Runs all in turns; the first is ours, and the others are what it is held against. */
  private static void compare(List<Trial> trials) throws IOException {
    Map<String, double[]> stored = new LinkedHashMap<>();
    Map<String, double[]> loaded = new LinkedHashMap<>();
    for (var trial : trials) {
      stored.put(trial.name(), new double[ROUNDS]);
      loaded.put(trial.name(), new double[ROUNDS]);
      trial.store();
      trial.load();
    }
    for (int round = 0; round < ROUNDS; round++) {
      for (var trial : trials) {
        long start = System.nanoTime();
        long bytes = trial.store();
        long middle = System.nanoTime();
        stored.get(trial.name())[round] = (double) bytes / (middle - start);
        bytes = trial.load();
        loaded.get(trial.name())[round] = (double) bytes / (System.nanoTime() - middle);
      }
    }
    var ours = trials.getFirst().name();
    print("store", ours, stored);
    print("load", ours, loaded);
    for (var trial : trials) trial.close();
  }

  private static void print(String what, String ours, Map<String, double[]> rates) {
    double own = best(rates.getOrDefault(ours, new double[1]));
    rates.forEach(
        (name, each) -> {
          double rate = best(each);
          var ratio =
              name.equals(ours) ? "" : "  ratio %.2f (goal %.1f)".formatted(own / rate, GOAL);
          System.out.printf(Locale.ROOT, "%-6s %-34s %7.3f GB/s%s%n", what, name, rate, ratio);
        });
  }

  /** The round in which others on the machine disturbed least. */
  private static double best(double[] values) {
    return Arrays.stream(values).max().orElse(0);
  }
}
