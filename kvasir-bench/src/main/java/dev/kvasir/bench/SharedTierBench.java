package dev.kvasir.bench;

import dev.kvasir.tiers.shared.SealSettings;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.SequencedMap;

/**
 * Compares the speed of the shared tiers on a server with that of plain clients of it, in turns of
 * one run.
 *
 * <pre>
 *   SharedTierBench remote 127.0.0.1:6379          one server, nothing else on it
 *   SharedTierBench object http://127.0.0.1:80 bucket
 * </pre>
 */
public final class SharedTierBench {
  private static final int ROUNDS = Integer.getInteger("rounds", 9);
  private static final double GOAL = 0.8;

  static final int BLOCK_BYTES = Integer.getInteger("block", 64 << 10);

  /** One way to use a server. */
  interface Trial extends AutoCloseable {
    String name();

    /** Empties the server, where what is left there would be in the way. */
    void clear();

    /** Stores blocks that are not there; returns bytes of blocks by nanosecond. */
    double store() throws IOException;

    /** Loads blocks that are there; returns bytes of blocks by nanosecond. */
    double load() throws IOException;

    @Override
    void close();
  }

  private SharedTierBench() {}

  public static void main(String[] arguments) throws Exception {
    if (arguments.length == 2 && arguments[0].equals("remote")) {
      compare(RemoteTrials.all(arguments[1]));
    } else if (arguments.length == 3 && arguments[0].equals("object")) {
      compare(ObjectTrials.all(arguments[1], arguments[2], BLOCK_BYTES, SealSettings.CHECKSUM));
    } else {
      System.err.println("SharedTierBench remote HOST:PORT | object ENDPOINT BUCKET");
    }
  }

  /** Runs all in turns; the first is ours, and the others are what it is held against. */
  private static void compare(List<Trial> trials) throws IOException {
    var stored = new LinkedHashMap<String, List<Double>>();
    var loaded = new LinkedHashMap<String, List<Double>>();
    // The first rounds are for the compilers.
    int warm = Math.ceilDiv(ROUNDS, 2);
    for (int round = -warm; round < ROUNDS; round++) {
      for (var trial : trials) {
        trial.clear();
        double store = trial.store();
        double load = trial.load();
        if (round < 0) continue;
        stored.computeIfAbsent(trial.name(), _ -> new ArrayList<>()).add(store);
        loaded.computeIfAbsent(trial.name(), _ -> new ArrayList<>()).add(load);
      }
    }
    print("store", stored);
    print("load", loaded);
    for (var trial : trials) trial.close();
  }

  /** Each ratio is of one round, in which the machine was as busy for both. */
  private static void print(String what, SequencedMap<String, List<Double>> rates) {
    var ours = rates.firstEntry().getValue();
    rates.forEach(
        (name, theirs) -> {
          var ratios = new ArrayList<Double>();
          for (int i = 0; i < ROUNDS; i++) ratios.add(ours.get(i) / theirs.get(i));
          ratios.sort(null);
          System.out.printf(
              Locale.ROOT,
              "%-6s %-34s %7.3f GB/s  ratio %.2f (%.2f to %.2f, goal %.1f)%n",
              what,
              name,
              median(theirs),
              median(ratios),
              ratios.getFirst(),
              ratios.getLast(),
              GOAL);
        });
  }

  private static double median(List<Double> values) {
    return values.stream().sorted().toList().get(values.size() / 2);
  }
}
