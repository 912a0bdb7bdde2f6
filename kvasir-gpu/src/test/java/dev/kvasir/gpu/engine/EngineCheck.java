package dev.kvasir.gpu.engine;

import dev.kvasir.engine.EngineSettings;
import dev.kvasir.engine.PlanningSettings;
import dev.kvasir.gpu.CudaAnswer;
import dev.kvasir.gpu.library.CudaLibraries;
import dev.kvasir.gpu.model.GpuShape;
import dev.kvasir.live.engine.EmbeddedEngine;
import dev.kvasir.live.engine.EngineGroup;
import dev.kvasir.live.engine.EngineGroupSettings;
import dev.kvasir.live.engine.LoadedModel;
import dev.kvasir.live.engine.ServedModel;
import dev.kvasir.live.engine.step.Generation;
import dev.kvasir.live.engine.step.GenerationEnd;
import dev.kvasir.live.engine.step.GenerationListener;
import dev.kvasir.live.engine.step.GenerationRequest;
import dev.kvasir.live.engine.step.Piece;
import dev.kvasir.model.BuiltInModel;
import dev.kvasir.model.sample.SamplingSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/** Engines on a GPU: the same answers as on the processor, and how long the GPU waits for them. */
public final class EngineCheck {
  private static final int WAIT_SECONDS = 300;
  private static final int WARM_UP_TOKENS = 20;
  private static final int STEP_TOKENS = 8_192;

  private final CudaAnswer.Answered ready;
  private final CudaLibraries libraries;
  private final Path folder;
  private final Consumer<String> out;

  public EngineCheck(
      CudaAnswer.Answered ready, CudaLibraries libraries, Path folder, Consumer<String> out) {
    this.ready = ready;
    this.libraries = libraries;
    this.folder = folder;
    this.out = out;
  }

  /** Collects answers. */
  private static final class Collected implements GenerationListener {
    final Map<String, List<Integer>> tokens = new LinkedHashMap<>();
    final List<String> failed = new ArrayList<>();
    private final CountDownLatch missing;
    private int preemptions;
    private int cachedTokens;

    Collected(int count) {
      this.missing = new CountDownLatch(count);
    }

    @Override
    public void grown(Generation generation, Piece piece) {
      tokens
          .computeIfAbsent(generation.request().id(), _ -> new ArrayList<>())
          .add(piece.choice().token());
    }

    @Override
    public void ended(Generation generation, GenerationEnd end) {
      if (!(end instanceof GenerationEnd.Full) && !(end instanceof GenerationEnd.Stopped)) {
        failed.add(generation.request().id() + ": " + end);
      }
      preemptions += generation.usage().preemptions();
      cachedTokens += generation.usage().cachedTokens();
      missing.countDown();
    }

    static Collected of(EmbeddedEngine engine, List<GenerationRequest> requests) {
      var collected = new Collected(requests.size());
      engine.loop().execute(() -> requests.forEach(each -> engine.submit(each, collected)));
      try {
        if (!collected.missing.await(WAIT_SECONDS, TimeUnit.SECONDS)) {
          collected.failed.add("no answer in " + WAIT_SECONDS + " s");
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      return collected;
    }
  }

  /** Small memory and host tier; all modes; asked twice, so that the cache answers too. */
  public List<String> answers(int requests, int tokens, int blocks, List<int[]> prompts)
      throws IOException {
    var wrong = new ArrayList<String>();
    var asked = new ArrayList<GenerationRequest>();
    for (int i = 0; i < requests; i++) {
      var prompt = prompts.get(i % prompts.size());
      asked.add(GenerationRequest.of("r" + i, prompt, tokens, SamplingSettings.greedy()));
    }
    Map<String, List<Integer>> right;
    try (var model = LoadedModel.builtIn(folder, 2);
        var group = EngineGroup.open(model, settings(PlanningSettings.Mode.REPAIR, 400, 0))) {
      right = Collected.of(group.engines().getFirst(), asked).tokens;
    }
    var file = BuiltInModel.file(folder);
    for (var mode : PlanningSettings.Mode.values()) {
      var sizes = new GpuDevice.Settings(blocks, 512, 64, folder.resolve("kernels"));
      try (var device = GpuDevice.open(ready, libraries, file, sizes);
          var model = LoadedModel.on(device, null, folder);
          var group = EngineGroup.open(model, settings(mode, blocks, 4 * blocks))) {
        for (int round = 0; round < 2; round++) {
          var found = Collected.of(group.engines().getFirst(), asked);
          wrong.addAll(compared(mode + " round " + round, found, right, asked));
        }
        if (!group.drain(Duration.ofSeconds(60))) wrong.add(mode + " did not drain");
      }
    }
    return wrong;
  }

  private List<String> compared(
      String name, Collected found, Map<String, List<Integer>> right, List<GenerationRequest> all) {
    int different = 0;
    for (var request : all) {
      var expected = right.getOrDefault(request.id(), List.of());
      var tokens = found.tokens.getOrDefault(request.id(), List.of());
      if (expected.isEmpty() || !expected.equals(tokens)) different++;
    }
    boolean isRight = different == 0 && found.failed.isEmpty();
    var line =
        String.format(
            Locale.ROOT,
            "engine, %s: %d of %d answers differ, %d preemptions, %d tokens from the cache, %s",
            name,
            different,
            all.size(),
            found.preemptions,
            found.cachedTokens,
            found.failed.isEmpty() ? "none failed" : found.failed.getFirst());
    out.accept("  " + line + (isRight ? " ok" : " WRONG"));
    return isRight ? List.of() : List.of(line);
  }

  private static EngineGroupSettings settings(PlanningSettings.Mode mode, int device, int host) {
    return EngineGroupSettings.of(1, device, host, 0, null, engine(mode, 64, 512));
  }

  private static EngineSettings engine(PlanningSettings.Mode mode, int sequences, int tokens) {
    return EngineSettings.of(sequences, tokens).with(PlanningSettings.of(mode));
  }

  /** What an engine with made-up weights does with so many running and waiting, in each mode. */
  public void idle(GpuShape shape, List<Integer> running, List<Integer> waiting, int tokens)
      throws IOException {
    int blocks = 16_384;
    var sizes = new GpuDevice.Settings(blocks, STEP_TOKENS, 256, folder.resolve("kernels"));
    for (var mode : PlanningSettings.Mode.values()) {
      try (var device = GpuDevice.random(ready, libraries, shape, sizes);
          var model = new LoadedModel(served(shape), device)) {
        for (int count : running) {
          for (int queued : waiting) idle(model, mode, blocks, count, queued, tokens);
        }
      }
    }
  }

  private ServedModel served(GpuShape shape) throws IOException {
    return ServedModel.withoutWeights("made up", folder, shape.contextTokens());
  }

  private void idle(
      LoadedModel model, PlanningSettings.Mode mode, int blocks, int running, int queued, int each)
      throws IOException {
    var settings =
        EngineGroupSettings.of(1, blocks, 0, 0, null, engine(mode, running, STEP_TOKENS));
    try (var group = EngineGroup.open(model, settings)) {
      var random = new Random(5);
      var first = group.engines().getFirst();
      Collected.of(first, requests("w", running, random, WARM_UP_TOKENS));
      var busy = new AtomicLong();
      var steps = new AtomicLong();
      group.tellSteps(
          time -> {
            busy.addAndGet(time.nanos());
            steps.incrementAndGet();
          });
      int more = Math.min(queued, running * 2);
      var asked = requests("r", running + more, random, each);
      long begin = System.nanoTime();
      var found = Collected.of(first, asked);
      double seconds = (System.nanoTime() - begin) * 1e-9;
      long got = found.tokens.values().stream().mapToLong(List::size).sum();
      out.accept(
          String.format(
              Locale.ROOT,
              "engine %-10s running %3d waiting %3d: %7.0f tokens/s, step %.3f ms, idle %.2f %%,"
                  + " %s",
              mode,
              running,
              more,
              got / seconds,
              1e3 * seconds / steps.get(),
              100 * (1 - busy.get() * 1e-9 / seconds),
              found.failed.isEmpty() ? "none failed" : found.failed.getFirst()));
    }
  }

  private static List<GenerationRequest> requests(
      String name, int count, Random random, int tokens) {
    var requests = new ArrayList<GenerationRequest>();
    for (int i = 0; i < count; i++) requests.add(request(name + i, random, tokens));
    return requests;
  }

  private static GenerationRequest request(String id, Random random, int tokens) {
    var prompt = random.ints(16, 3, 4_000).toArray();
    return new GenerationRequest(
        id, "", prompt, tokens, tokens, SamplingSettings.greedy(), List.of(), 0);
  }
}
