package dev.kvasir.bench;

import dev.kvasir.embedded.EmbeddedEngine;
import dev.kvasir.embedded.EngineGroup;
import dev.kvasir.embedded.EngineGroupSettings;
import dev.kvasir.embedded.LoadedModel;
import dev.kvasir.embedded.step.Generation;
import dev.kvasir.embedded.step.GenerationEnd;
import dev.kvasir.embedded.step.GenerationListener;
import dev.kvasir.embedded.step.GenerationRequest;
import dev.kvasir.embedded.step.Piece;
import dev.kvasir.engine.EngineSettings;
import dev.kvasir.model.sample.SamplingSettings;
import dev.kvasir.tiers.ObjectTier;
import dev.kvasir.tiers.RemoteTier;
import dev.kvasir.tiers.TierConfig;
import dev.kvasir.tiers.TieredCacheSettings;
import dev.kvasir.tiers.redis.RemoteSettings;
import dev.kvasir.tiers.s3.ObjectSettings;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;

/**
 * Measures the time to the first token of a prompt whose first 600 tokens are known: computed
 * again, from the engine's own memory, from host memory, from disk after a restart, and from a
 * Redis and a bucket in which another process would find it; in turns of one run.
 *
 * <p>Once the prompt is nothing but the prefix, and once it has some tokens of its own behind it.
 * What does not fill a block is computed in any case: 8 of 600 tokens, 16 of 608.
 *
 * <p>Before that some hundred prompts take the same ways, until the compiler has nothing more to
 * do: it would take one of the cores from what is measured.
 *
 * <pre>
 *   PrefixBench [HOST:PORT [ENDPOINT BUCKET]]
 * </pre>
 */
public final class PrefixBench {
  private static final int PREFIX_TOKENS = 600;
  private static final List<Integer> OWN_TOKENS = List.of(0, 8);
  private static final int ROUNDS = 31;
  private static final int WARMUP_ROUNDS = 100;
  private static final int WARMUP_PROMPTS = 400;
  private static final int WARMUP_PREFIX_TOKENS = 64;
  private static final Duration DRAIN_MAX = Duration.ofSeconds(30);
  private static final int HOST_BLOCKS = 512;

  private final LoadedModel model;
  private final Path folder;
  private final TieredCacheSettings tieredCache;

  /** Not the same each time, for what was computed last time is still on the servers. */
  private final SplittableRandom random = new SplittableRandom(System.nanoTime());

  private int requests;

  private PrefixBench(LoadedModel model, Path folder, TieredCacheSettings tieredCache) {
    this.model = model;
    this.folder = folder;
    this.tieredCache = tieredCache;
  }

  public static void main(String[] args) throws IOException {
    var folder = Files.createTempDirectory("kvasir-prefix");
    int threads = Runtime.getRuntime().availableProcessors();
    try (var model = LoadedModel.builtIn(folder, threads)) {
      new PrefixBench(model, folder, tieredCache(args)).run();
    }
  }

  private static TieredCacheSettings tieredCache(String[] args) {
    var tieredCache = TieredCacheSettings.of(HOST_BLOCKS, 2_048);
    if (args.length > 0)
      tieredCache = tieredCache.with(RemoteTier.DEFAULT.at(RemoteSettings.of(args[0])));
    if (args.length > 2) {
      var bucket = ObjectSettings.of(URI.create(args[1]), args[2]);
      tieredCache = tieredCache.with(ObjectTier.DEFAULT.at(bucket));
    }
    return tieredCache;
  }

  private void run() throws IOException {
    warmUp();
    for (int own : OWN_TOKENS) compare(own);
  }

  private void compare(int own) throws IOException {
    var names = new ArrayList<>(List.of("computed", "from engine memory", "from host memory"));
    for (var tier : tieredCache.below()) names.add("from " + tier.tier().word());
    var seconds = new double[names.size()][ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
      var times = round(own);
      for (int i = 0; i < times.size(); i++) seconds[i][round] = times.get(i);
    }
    System.out.printf(
        Locale.ROOT,
        "first token behind a known prefix of %d tokens and %d of its own, median of %d%n",
        PREFIX_TOKENS,
        own,
        ROUNDS);
    double computed = Median.of(seconds[0]);
    for (int i = 0; i < names.size(); i++) {
      double middle = Median.of(seconds[i]);
      System.out.printf(
          Locale.ROOT,
          "%-20s %8.2f ms %8.1f times%n",
          names.get(i),
          middle * 1e3,
          computed / middle);
    }
  }

  private void warmUp() throws IOException {
    try (var group = open(TieredCacheSettings.of(HOST_BLOCKS, 0))) {
      var prefixes = new ArrayList<int[]>();
      for (int i = 0; i < WARMUP_PROMPTS; i++) prefixes.add(tokens(WARMUP_PREFIX_TOKENS));
      for (var prefix : prefixes) request(group.engines().getFirst(), prefix, 1);
      settle(group);
      for (var prefix : prefixes) request(group.engines().getLast(), prefix, 1);
    }
    for (int i = 0; i < WARMUP_ROUNDS; i++) {
      var _ = round(OWN_TOKENS.get(i % OWN_TOKENS.size()));
    }
  }

  private int[] tokens(int count) {
    return random.ints(count, 300, 4_000).toArray();
  }

  /**
   * A new prefix is computed by one engine, found by it, found by the other, and then by engines
   * with nothing but one of the tiers to find it on.
   */
  private List<Double> round(int own) throws IOException {
    var prefix = tokens(PREFIX_TOKENS);
    var times = new ArrayList<Double>();
    try (var group = open(tieredCache)) {
      times.add(request(group.engines().getFirst(), prefix, own));
      times.add(request(group.engines().getFirst(), prefix, own));
      settle(group);
      times.add(request(group.engines().getLast(), prefix, own));
      group.drain(DRAIN_MAX);
    }
    for (var tier : tieredCache.below()) {
      try (var group = open(alone(tier))) {
        times.add(request(group.engines().getFirst(), prefix, own));
      }
    }
    return times;
  }

  private static TieredCacheSettings alone(TierConfig.Below tier) {
    return TieredCacheSettings.of(HOST_BLOCKS, 0).with(tier);
  }

  private EngineGroup open(TieredCacheSettings tiers) throws IOException {
    var disk = folder.resolve("disk");
    return EngineGroup.open(
        model, new EngineGroupSettings(2, 256, tiers, disk, EngineSettings.DEFAULT));
  }

  private static void settle(EngineGroup group) {
    group.drain(DRAIN_MAX);
    group.loop().execute(() -> group.engines().forEach(EmbeddedEngine::resume));
  }

  private double request(EmbeddedEngine engine, int[] prefix, int own) {
    var prompt = Arrays.copyOf(prefix, prefix.length + own);
    System.arraycopy(tokens(own), 0, prompt, prefix.length, own);
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
    engine.loop().execute(() -> engine.learn(request, named -> engine.submit(named, listener)));
    over.join();
    return (first.join() - begun) / 1e9;
  }
}
