package dev.kvasir.bench;

import dev.kvasir.engine.EngineSettings;
import dev.kvasir.live.engine.EmbeddedEngine;
import dev.kvasir.live.engine.EngineGroup;
import dev.kvasir.live.engine.EngineGroupSettings;
import dev.kvasir.live.engine.Generation;
import dev.kvasir.live.engine.GenerationEnd;
import dev.kvasir.live.engine.GenerationListener;
import dev.kvasir.live.engine.GenerationRequest;
import dev.kvasir.live.engine.LoadedModel;
import dev.kvasir.live.engine.Piece;
import dev.kvasir.live.model.sample.SamplingSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;

/**
 * How long the first token of a prompt takes whose first 600 tokens are known: computed again, from
 * the engine's own memory, from host memory, and from disk after a restart; in turns of one run.
 *
 * <p>Before that some hundred short prompts take the same ways, as a server is not measured in its
 * first seconds.
 */
public final class PrefixBench {
  private static final int PREFIX_TOKENS = 600;
  private static final int OWN_TOKENS = 8;
  private static final int ROUNDS = 15;
  private static final int WARMUP_ROUNDS = 5;
  private static final int WARMUP_PROMPTS = 400;
  private static final int WARMUP_PREFIX_TOKENS = 64;
  private static final Duration DRAIN_MAX = Duration.ofSeconds(30);

  private final LoadedModel model;
  private final Path folder;
  private final SplittableRandom random = new SplittableRandom(7);
  private int requests;

  private PrefixBench(LoadedModel model, Path folder) {
    this.model = model;
    this.folder = folder;
  }

  public static void main(String[] args) throws IOException {
    var folder = Files.createTempDirectory("kvasir-prefix");
    int threads = Runtime.getRuntime().availableProcessors();
    try (var model = LoadedModel.builtIn(folder, threads)) {
      new PrefixBench(model, folder).run();
    }
  }

  private void run() throws IOException {
    warmUp();
    var seconds = new double[4][ROUNDS];
    for (int round = -WARMUP_ROUNDS; round < ROUNDS; round++) {
      var taken = round();
      for (int i = 0; i < taken.length && round >= 0; i++) seconds[i][round] = taken[i];
    }
    var names = new String[] {"computed", "from engine memory", "from host memory", "from disk"};
    System.out.println("first token of a prompt with a known prefix of 600 tokens, median");
    double computed = median(seconds[0]);
    for (int i = 0; i < names.length; i++) {
      double middle = median(seconds[i]);
      System.out.printf(
          Locale.ROOT, "%-20s %8.2f ms %8.1f times%n", names[i], middle * 1e3, computed / middle);
    }
  }

  private void warmUp() throws IOException {
    try (var group = open()) {
      var prefixes = new ArrayList<int[]>();
      for (int i = 0; i < WARMUP_PROMPTS; i++) prefixes.add(tokens(WARMUP_PREFIX_TOKENS));
      for (var prefix : prefixes) ask(group.engines().getFirst(), prefix);
      settle(group);
      for (var prefix : prefixes) ask(group.engines().getLast(), prefix);
    }
  }

  private int[] tokens(int count) {
    return random.ints(count, 300, 4_000).toArray();
  }

  /** A new prefix is computed by one engine, found by it, found by the other, found after all. */
  private double[] round() throws IOException {
    var prefix = tokens(PREFIX_TOKENS);
    var taken = new double[4];
    try (var group = open()) {
      taken[0] = ask(group.engines().getFirst(), prefix);
      taken[1] = ask(group.engines().getFirst(), prefix);
      settle(group);
      taken[2] = ask(group.engines().getLast(), prefix);
      group.drain(DRAIN_MAX);
    }
    try (var group = open()) {
      taken[3] = ask(group.engines().getFirst(), prefix);
    }
    return taken;
  }

  private EngineGroup open() throws IOException {
    return EngineGroup.open(
        model,
        EngineGroupSettings.of(2, 256, 512, 2_048, folder.resolve("disk"), EngineSettings.DEFAULT));
  }

  private static void settle(EngineGroup group) {
    group.drain(DRAIN_MAX);
    group.loop().execute(() -> group.engines().forEach(EmbeddedEngine::resume));
  }

  private double ask(EmbeddedEngine engine, int[] prefix) {
    var prompt = Arrays.copyOf(prefix, prefix.length + OWN_TOKENS);
    System.arraycopy(tokens(OWN_TOKENS), 0, prompt, prefix.length, OWN_TOKENS);
    var request = GenerationRequest.of("r" + requests++, prompt, 1, SamplingSettings.greedy());
    var first = new CompletableFuture<Long>();
    var over = new CompletableFuture<GenerationEnd>();
    var listener =
        new GenerationListener() {
          @Override
          public void grown(Generation generation, Piece piece) {
            first.complete(System.nanoTime());
          }

          @Override
          public void ended(Generation generation, GenerationEnd end) {
            over.complete(end);
          }
        };
    long begun = System.nanoTime();
    engine.loop().execute(() -> engine.submit(request, listener));
    over.join();
    return (first.join() - begun) / 1e9;
  }

  private static double median(double[] values) {
    var sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }
}
