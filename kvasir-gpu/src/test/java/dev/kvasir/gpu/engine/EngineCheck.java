package dev.kvasir.gpu.engine;

import dev.kvasir.embedded.EmbeddedEngine;
import dev.kvasir.embedded.EngineGroup;
import dev.kvasir.embedded.EngineGroupSettings;
import dev.kvasir.embedded.LoadedModel;
import dev.kvasir.embedded.step.GenerationRequest;
import dev.kvasir.engine.EngineSettings;
import dev.kvasir.engine.PlanningSettings;
import dev.kvasir.gpu.CudaAnswer;
import dev.kvasir.gpu.CudaDevice;
import dev.kvasir.gpu.CudaFailure;
import dev.kvasir.gpu.library.CudaLibraries;
import dev.kvasir.model.BuiltInModel;
import dev.kvasir.model.sample.SamplingSettings;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;

/** Engines on a GPU: the same answers as on the processor. */
public final class EngineCheck {
  private static final Duration RESTART_WAIT = Duration.ofMillis(50);
  private static final int RESTART_WAITS = 1_200;

  /** An address at which no GPU has memory. */
  private static final long NOWHERE = 4096;

  private final CudaAnswer.Answered ready;
  private final CudaLibraries libraries;
  private final Path folder;
  private final Consumer<String> out;
  private int preemptions;

  public EngineCheck(
      CudaAnswer.Answered ready, CudaLibraries libraries, Path folder, Consumer<String> out) {
    this.ready = ready;
    this.libraries = libraries;
    this.folder = folder;
    this.out = out;
  }

  /** Small memory and host tier; all modes; asked twice, so that the cache answers too. */
  public List<String> answers(int requests, int tokens, int blocks, List<int[]> prompts)
      throws IOException {
    var wrong = new ArrayList<String>();
    var submitted = new ArrayList<GenerationRequest>();
    for (int i = 0; i < requests; i++) {
      var prompt = prompts.get(i % prompts.size());
      submitted.add(GenerationRequest.of("r" + i, prompt, tokens, SamplingSettings.greedy()));
    }
    Map<String, List<Integer>> right;
    try (var model = LoadedModel.builtIn(folder, 2);
        var group = EngineGroup.open(model, settings(PlanningSettings.Mode.REPAIR, 400, 0))) {
      right = Collected.of(group.engines().getFirst(), submitted).tokens;
    }
    var file = BuiltInModel.file(folder);
    for (var mode : PlanningSettings.Mode.values()) {
      var sizes =
          new GpuDevice.Settings(
              blocks, 512, 64, folder.resolve("kernels"), GpuDevice.Weights.OF_FILE);
      try (var device = GpuDevice.open(ready, libraries, file, sizes);
          var model = LoadedModel.on(device, null, folder);
          var group = EngineGroup.open(model, settings(mode, blocks, 4 * blocks))) {
        for (int round = 0; round < 2; round++) {
          var found = Collected.of(group.engines().getFirst(), submitted);
          preemptions += found.preemptions;
          wrong.addAll(compared(mode + " round " + round, found, right, submitted));
        }
        if (!group.drain(Duration.ofSeconds(60))) wrong.add(mode + " did not drain");
      }
    }
    return wrong;
  }

  /**
   * A step of each prompt fails on a GPU that is well; then the same is asked again of that engine,
   * and of another one above the same host memory.
   */
  public List<String> failed(int count, int tokens, List<int[]> prompts) throws IOException {
    var wrong = new ArrayList<String>();
    for (var place : FailingDevice.Place.values()) {
      for (int goodSteps : new int[] {0, tokens / 2}) {
        wrong.addAll(failed(place, goodSteps, requests(count, tokens, prompts)));
      }
    }
    return wrong;
  }

  /** Returns that number of requests with prompts of a block and a half. */
  static List<GenerationRequest> requests(int count, int tokens, List<int[]> prompts) {
    var requests = new ArrayList<GenerationRequest>();
    for (int i = 0; i < count; i++) {
      var prompt = longer(prompts.get(i % prompts.size()), i);
      requests.add(GenerationRequest.of("r" + i, prompt, tokens, SamplingSettings.greedy()));
    }
    return requests;
  }

  List<String> failed(FailingDevice.Place place, int goodSteps, List<GenerationRequest> requests)
      throws IOException {
    var wrong = new ArrayList<String>();
    int blocks = requests.size() * 4;
    var sizes =
        new GpuDevice.Settings(
            4 * blocks, 512, 64, folder.resolve("kernels"), GpuDevice.Weights.OF_FILE);
    var mode = PlanningSettings.Mode.REPAIR;
    var many = EngineGroupSettings.of(3, blocks, 2 * blocks, 0, null, engine(mode, 64, 512));
    try (var device =
            new FailingDevice(
                GpuDevice.open(ready, libraries, BuiltInModel.file(folder), sizes), place);
        var model = LoadedModel.on(device, null, folder);
        var group = EngineGroup.open(model, many)) {
      var engines = group.engines();
      int failures = 0;
      for (var request : requests) {
        device.failAfter(goodSteps);
        failures += Collected.of(engines.get(0), List.of(request)).failed.size();
        // The step behind the one that fails must not be counted for the next prompt.
        if (!group.drain(Duration.ofSeconds(60))) wrong.add("a failed step does not end");
        group.loop().execute(() -> engines.forEach(EmbeddedEngine::resume));
      }
      device.failAfter(Integer.MAX_VALUE);
      // Short answers have ended before.
      int least = goodSteps == 0 ? requests.size() : 1;
      if (failures < least) wrong.add(failures + " steps failed of " + requests.size());
      var name = "after step %d failed at %s, ".formatted(goodSteps, place);
      var other = Collected.of(engines.get(1), requests);
      var same = Collected.of(engines.get(0), requests);
      // The third engine has found nothing, if the tiers are forgotten before it is asked.
      group.reset(_ -> {});
      var right = Collected.of(engines.get(2), requests);
      wrong.addAll(compared(name + "another engine", other, right.tokens, requests));
      wrong.addAll(compared(name + "the same engine", same, right.tokens, requests));
    }
    return wrong;
  }

  /** A block and a half, unlike those of others. */
  private static int[] longer(int[] prompt, int number) {
    var longer = new int[24];
    for (int i = 0; i < longer.length; i++) longer[i] = prompt[(i * (number + 1)) % prompt.length];
    longer[1] = 300 + number;
    return longer;
  }

  /** A kernel writes where nothing is: who waits fails, and the engine is started again. */
  public List<String> lost(int tokens, List<int[]> prompts) throws IOException {
    var wrong = new ArrayList<String>();
    var requests = new ArrayList<GenerationRequest>();
    for (int i = 0; i < prompts.size(); i++) {
      requests.add(
          GenerationRequest.of("r" + i, prompts.get(i), tokens, SamplingSettings.greedy()));
    }
    var file = BuiltInModel.file(folder);
    var sizes =
        new GpuDevice.Settings(64, 512, 64, folder.resolve("kernels"), GpuDevice.Weights.OF_FILE);
    try (var device = GpuDevice.open(ready, libraries, file, sizes);
        var model = LoadedModel.on(device, null, folder);
        var group = EngineGroup.open(model, settings(PlanningSettings.Mode.REPAIR, 64, 128))) {
      var engine = group.engines().getFirst();
      var right = Collected.of(engine, requests);
      var givenUp = new CountDownLatch(1);
      group.whenGivenUp(givenUp::countDown);
      breakContext(device.device());
      var failed = Collected.of(engine, requests);
      long begin = System.nanoTime();
      for (int i = 0; i < RESTART_WAITS && engine.isBroken() && givenUp.getCount() > 0; i++) {
        pause();
      }
      out.accept(
          String.format(
              Locale.ROOT,
              "  a lost context: %d of %d answers failed (%s), %s after %.1f s",
              failed.failed.size(),
              requests.size(),
              failed.failure(),
              engine.isBroken() ? "given up" : "started again",
              (System.nanoTime() - begin) * 1e-9));
      if (failed.failed.isEmpty()) wrong.add("nobody heard of the lost context");
      if (givenUp.getCount() == 0) return wrong;
      wrong.addAll(
          compared("after a lost context", Collected.of(engine, requests), right.tokens, requests));
    }
    return wrong;
  }

  private static void breakContext(CudaDevice device) throws IOException {
    device.bind();
    try (var text = CudaDevice.class.getResourceAsStream("check.ptx")) {
      if (text == null) throw new IllegalStateException("check.ptx is missing");
      var kernels = device.module(new String(text.readAllBytes(), StandardCharsets.UTF_8));
      var stream = device.stream(CudaDevice.Urgency.USUAL);
      stream.launch(kernels.kernel("fill"), 1, 32, NOWHERE, 64, 1);
      stream.await();
    } catch (CudaFailure broken) {
      if (!broken.isContextLost()) throw broken;
    }
  }

  private static void pause() {
    try {
      Thread.sleep(RESTART_WAIT);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Returns how often a sequence made room for others so far. */
  public int preemptions() {
    return preemptions;
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
            found.failure());
    out.accept("  " + line + (isRight ? " ok" : " WRONG"));
    return isRight ? List.of() : List.of(line);
  }

  private static EngineGroupSettings settings(PlanningSettings.Mode mode, int device, int host) {
    return EngineGroupSettings.of(1, device, host, 0, null, engine(mode, 64, 512));
  }

  private static EngineSettings engine(PlanningSettings.Mode mode, int sequences, int tokens) {
    return EngineSettings.of(sequences, tokens).with(PlanningSettings.of(mode));
  }
}
