package dev.kvasir.bench;

import dev.kvasir.live.store.SealSettings;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.SequencedMap;

/**
 * What the shared tiers make of a server, held against plain clients of it in turns of one run.
 *
 * <pre>
 *   SharedTierBench remote 127.0.0.1:6379          one server, nothing else on it
 *   SharedTierBench object http://127.0.0.1:80 bucket
 * </pre>
 */
public final class SharedTierBench {
  private static final int ROUNDS = Integer.getInteger("rounds", 20);
  private static final double GOAL = 0.8;

  /** One way to use a server. */
  interface Trial extends AutoCloseable {
    String name();

    /** Empties the server, where what is left there would be in the way. */
    void clear();

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
    for (var trial : trials) {
      trial.clear();
      trial.store();
      trial.load();
    }
    // Of all rounds the best: the one in which others on the machine disturbed least.
    var stored = new LinkedHashMap<String, Double>();
    var loaded = new LinkedHashMap<String, Double>();
    for (int round = 0; round < ROUNDS; round++) {
      for (var trial : trials) {
        trial.clear();
        long start = System.nanoTime();
        long bytes = trial.store();
        long middle = System.nanoTime();
        stored.merge(trial.name(), (double) bytes / (middle - start), Math::max);
        bytes = trial.load();
        loaded.merge(trial.name(), (double) bytes / (System.nanoTime() - middle), Math::max);
      }
    }
    print("store", stored);
    print("load", loaded);
    for (var trial : trials) trial.close();
  }

  private static void print(String what, SequencedMap<String, Double> rates) {
    double ours = rates.firstEntry().getValue();
    rates.forEach(
        (name, rate) ->
            System.out.printf(
                Locale.ROOT,
                "%-6s %-34s %7.3f GB/s  ratio %.2f (goal %.1f)%n",
                what,
                name,
                rate,
                ours / rate,
                GOAL));
  }
}
