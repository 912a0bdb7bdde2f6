package dev.kvasir.gpu.engine;

import dev.kvasir.Nullable;
import dev.kvasir.embedded.EngineGroup;
import dev.kvasir.embedded.EngineGroupSettings;
import dev.kvasir.embedded.LoadedModel;
import dev.kvasir.embedded.ServedModel;
import dev.kvasir.embedded.step.GenerationRequest;
import dev.kvasir.engine.EngineSettings;
import dev.kvasir.gpu.CudaAnswer;
import dev.kvasir.gpu.library.CudaLibraries;
import dev.kvasir.gpu.model.GpuShape;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.model.ModelShape;
import dev.kvasir.model.sample.SamplingSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Measures how soon an engine's first token comes after a long prompt that is computed, or found on
 * the GPU, in host memory or on disk; in one run, with made-up weights.
 *
 * <p>The GPU has room for two prompts (loads may reserve half of it), host memory for all; a second
 * group of engines on the same disk begins with host memory empty.
 */
public final class TierSpeed {
  private static final int STEP_TOKENS = 8_192;
  private static final int ANSWER_TOKENS = 8;
  private static final int PROMPTS = 4;
  private static final Duration DRAIN_MAX = Duration.ofMinutes(2);

  private final CudaAnswer.Answered ready;
  private final CudaLibraries libraries;
  private final Path folder;
  private final Consumer<String> out;
  private final Map<String, List<Integer>> answers = new HashMap<>();
  private final List<String> wrong = new ArrayList<>();
  private double computedMillis;

  public TierSpeed(
      CudaAnswer.Answered ready, CudaLibraries libraries, Path folder, Consumer<String> out) {
    this.ready = ready;
    this.libraries = libraries;
    this.folder = folder;
    this.out = out;
  }

  /**
   * Prompts of about so many tokens; what was not found where it was to be, or answered otherwise,
   * is returned.
   */
  public List<String> run(GpuShape shape, int tokens) throws IOException {
    // One token behind the last full block: what is found is all but that, so that nothing is
    // computed a second time, which may differ in rounding.
    int length = tokens - 4 * GpuShape.BLOCK_TOKENS + 1;
    int blocks = ModelShape.blocks(length);
    int device = 2 * blocks + 4;
    var disk = Files.createTempDirectory(folder, "disk");
    var settings =
        EngineGroupSettings.of(
            1,
            device,
            (PROMPTS + 1) * blocks,
            (PROMPTS + 2) * blocks,
            disk,
            EngineSettings.of(16, STEP_TOKENS));
    var prompts = prompts(length);
    answers.clear();
    wrong.clear();
    try (var gpu = GpuDevice.random(ready, libraries, shape, sizes(device));
        var model = new LoadedModel(served(shape), gpu)) {
      try (var group = EngineGroup.open(model, settings)) {
        request(group, "warm-up", List.of(new int[] {5, 6, 7}), null);
        for (var prompt : prompts) {
          request(group, "computed", List.of(prompt), null);
          request(group, "from the GPU", List.of(prompt, prompt), Tier.DEVICE);
        }
        for (var prompt : prompts) {
          request(group, "from host memory", List.of(prompt), Tier.HOST);
          request(group, "from the GPU, loaded", List.of(prompt), Tier.DEVICE);
        }
        if (!group.drain(DRAIN_MAX)) wrong.add("did not drain");
      }
      try (var group = EngineGroup.open(model, settings)) {
        request(group, "warm-up", List.of(new int[] {5, 6, 7}), null);
        request(group, "from disk", prompts, Tier.DISK);
      }
    }
    return List.copyOf(wrong);
  }

  private GpuDevice.Settings sizes(int blocks) {
    return new GpuDevice.Settings(
        blocks, STEP_TOKENS, 16, folder.resolve("kernels"), GpuDevice.Weights.OF_FILE);
  }

  private ServedModel served(GpuShape shape) throws IOException {
    return ServedModel.withoutWeights("made up", folder, shape.contextTokens());
  }

  private static List<int[]> prompts(int length) {
    var random = new Random(3);
    var prompts = new ArrayList<int[]>();
    for (int i = 0; i < PROMPTS; i++) prompts.add(random.ints(length, 3, 4_000).toArray());
    return prompts;
  }

  private void request(EngineGroup group, String name, List<int[]> prompts, @Nullable Tier from) {
    var millis = new ArrayList<Double>();
    long found = 0;
    long cached = 0;
    for (var prompt : prompts) {
      var got = Collected.of(group.engines().getFirst(), List.of(request(name, prompt)));
      if (!got.failed.isEmpty()) wrong.add(name + ": " + got.failure());
      millis.add(got.firstMillis());
      settle(group);
      cached += got.cachedTokens;
      if (from != null) found += got.cachedBlocks.getOrDefault(from, 0);
      if (from != null) compare(name, prompt, got.tokens.getOrDefault(name, List.of()));
    }
    long wanted = (long) prompts.size() * ((prompts.getFirst().length - 1) / GpuShape.BLOCK_TOKENS);
    if (from != null && found < 0.9 * wanted) {
      wrong.add(name + ": " + found + " blocks were there, of " + wanted);
    }
    Collections.sort(millis);
    if (name.equals("computed")) computedMillis = millis.get(millis.size() / 2);
    print(name, prompts.getFirst().length, millis, cached, found);
  }

  /**
   * Checks that a prompt, wherever it was found, gives the answer that it gave on the GPU at first.
   */
  private void compare(String name, int[] prompt, List<Integer> answer) {
    var first = answers.putIfAbsent(prompt[0] + "," + prompt[1] + "," + prompt.length, answer);
    if (first == null || first.equals(answer)) return;
    wrong.add(name + ", " + prompt.length + " tokens: " + answer + ", not " + first);
  }

  /**
   * Waits until what was computed lies below, before the next prompt takes its place on the GPU.
   */
  private void settle(EngineGroup group) {
    var tiers = group.tiers();
    if (tiers == null) return;
    var settled = new CountDownLatch(1);
    group.loop().execute(() -> tiers.whenSettled(settled::countDown));
    try {
      if (!settled.await(DRAIN_MAX.toSeconds(), TimeUnit.SECONDS)) wrong.add("did not settle");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static GenerationRequest request(String name, int[] prompt) {
    return new GenerationRequest(
        name, "", prompt, ANSWER_TOKENS, ANSWER_TOKENS, SamplingSettings.greedy(), List.of(), 0);
  }

  private void print(String name, int length, List<Double> millis, long cached, long found) {
    double median = millis.get(millis.size() / 2);
    out.accept(
        String.format(
            Locale.ROOT,
            "%-20s %5d tokens: first token after %8.1f ms (%s), %.1f times as soon as computed,"
                + " %d tokens cached, %d blocks from there",
            name,
            length,
            median,
            millis,
            computedMillis / median,
            cached,
            found));
  }
}
