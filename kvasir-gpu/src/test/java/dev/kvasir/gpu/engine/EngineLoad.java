package dev.kvasir.gpu.engine;

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
import dev.kvasir.engine.PlanningSettings;
import dev.kvasir.gpu.CudaAnswer;
import dev.kvasir.gpu.library.CudaLibraries;
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
import java.util.function.Consumer;

/**
 * Engines under load for as long as one likes, with too little memory for all that run and callers
 * that go away: every answer is compared with the processor's, and nothing may be left behind.
 */
public final class EngineLoad {
  private static final int ENGINES = 2;
  private static final int ANSWER_TOKENS = 24;
  private static final double GONE_SHARE = 0.15;
  private static final Duration ENDING_MAX = Duration.ofMinutes(2);

  private final CudaAnswer.Answered ready;
  private final CudaLibraries libraries;
  private final Path folder;
  private final Consumer<String> out;

  /** Callers that ask each engine at a time, and the blocks that it has. */
  public record Size(int callers, int blocks) {}

  public EngineLoad(
      CudaAnswer.Answered ready, CudaLibraries libraries, Path folder, Consumer<String> out) {
    this.ready = ready;
    this.libraries = libraries;
    this.folder = folder;
    this.out = out;
  }

  /** Asks for so long; returns what was wrong. */
  public List<String> run(Size size, Duration time, List<int[]> prompts) throws IOException {
    var right = right(prompts);
    var file = BuiltInModel.file(folder);
    var sizes =
        new GpuDevice.Settings(
            ENGINES * size.blocks, 512, 256, folder.resolve("kernels"), GpuDevice.Weights.OF_FILE);
    var engine =
        EngineSettings.of(size.callers, 512)
            .with(PlanningSettings.of(PlanningSettings.Mode.REPAIR));
    var settings = EngineGroupSettings.of(ENGINES, size.blocks, 4 * size.blocks, 0, null, engine);
    var wrong = new ArrayList<String>();
    try (var device = GpuDevice.open(ready, libraries, file, sizes);
        var model = LoadedModel.on(device, null, folder);
        var group = EngineGroup.open(model, settings)) {
      var held = device.device().holdings();
      long free = device.device().freeBytes();
      var callers = new ArrayList<Callers>();
      for (var each : group.engines()) callers.add(new Callers(each, prompts, right));
      for (var each : callers) each.begin(size.callers);
      pause(time);
      for (var each : callers) each.end();
      for (var each : callers) wrong.addAll(each.report(out));
      if (!group.drain(ENDING_MAX)) wrong.add("did not drain");
      device.device().bind();
      out.accept(
          "  held before %s, after %s; free before %d, after %d bytes"
              .formatted(held, device.device().holdings(), free, device.device().freeBytes()));
    }
    return wrong;
  }

  private Map<Integer, List<Integer>> right(List<int[]> prompts) throws IOException {
    var requests = new ArrayList<GenerationRequest>();
    for (int i = 0; i < prompts.size(); i++) {
      requests.add(
          GenerationRequest.of(
              Integer.toString(i), prompts.get(i), ANSWER_TOKENS, SamplingSettings.greedy()));
    }
    var settings = EngineGroupSettings.of(1, 400, 0, 0, null, EngineSettings.of(16, 512));
    try (var model = LoadedModel.builtIn(folder, 2);
        var group = EngineGroup.open(model, settings)) {
      var found = Collected.of(group.engines().getFirst(), requests).tokens;
      var right = new LinkedHashMap<Integer, List<Integer>>();
      found.forEach((id, tokens) -> right.put(Integer.parseInt(id), tokens));
      return right;
    }
  }

  private static void pause(Duration time) {
    try {
      Thread.sleep(time);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Those who ask one engine. Belongs to its loop. */
  private static final class Callers implements GenerationListener {
    private final EmbeddedEngine engine;
    private final List<int[]> prompts;
    private final Map<Integer, List<Integer>> right;
    private final Random random = new Random(9);
    private final Map<Generation, List<Integer>> open = new LinkedHashMap<>();
    private final Map<Generation, Integer> goneAfter = new LinkedHashMap<>();
    private final CountDownLatch over = new CountDownLatch(1);
    private final List<String> wrong = new ArrayList<>();
    private boolean isEnding;
    private long sent;
    private long whole;
    private long gone;
    private long different;
    private long preemptions;

    Callers(EmbeddedEngine engine, List<int[]> prompts, Map<Integer, List<Integer>> right) {
      this.engine = engine;
      this.prompts = prompts;
      this.right = right;
    }

    void begin(int count) {
      engine
          .loop()
          .execute(
              () -> {
                for (int i = 0; i < count; i++) send();
              });
    }

    private void send() {
      int which = random.nextInt(prompts.size());
      var request =
          GenerationRequest.of(
              which + "-" + sent++, prompts.get(which), ANSWER_TOKENS, SamplingSettings.greedy());
      var generation = engine.submit(request, this);
      open.put(generation, new ArrayList<>());
      if (random.nextDouble() < GONE_SHARE) goneAfter.put(generation, random.nextInt(8));
      if (goneAfter.getOrDefault(generation, -1) == 0) later(() -> engine.abort(generation));
    }

    private void later(Runnable task) {
      engine.loop().execute(task);
    }

    @Override
    public void grown(Generation generation, Piece piece) {
      var tokens = open.get(generation);
      if (tokens == null) return;
      tokens.add(piece.choice().token());
      if (goneAfter.getOrDefault(generation, -1) == tokens.size()) {
        later(() -> engine.abort(generation));
      }
    }

    @Override
    public void ended(Generation generation, GenerationEnd end) {
      var tokens = open.remove(generation);
      goneAfter.remove(generation);
      preemptions += generation.usage().preemptions();
      switch (end) {
        case GenerationEnd.Aborted() -> gone++;
        case GenerationEnd.Full(), GenerationEnd.Stopped() -> {
          whole++;
          int which = Integer.parseInt(generation.request().id().split("-", -1)[0]);
          if (!right.getOrDefault(which, List.of()).equals(tokens)) different++;
        }
        case GenerationEnd.Failed(String reason) -> wrong.add(reason);
        case GenerationEnd.Refused(String reason) -> wrong.add(reason);
      }
      later(this::goOn);
    }

    private void goOn() {
      if (!isEnding) send();
      else if (open.isEmpty()) over.countDown();
    }

    void end() {
      engine
          .loop()
          .execute(
              () -> {
                isEnding = true;
                if (open.isEmpty()) over.countDown();
              });
      try {
        if (!over.await(ENDING_MAX.toSeconds(), TimeUnit.SECONDS)) wrong.add("no end");
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    List<String> report(Consumer<String> out) {
      out.accept(
          String.format(
              Locale.ROOT,
              "  %s: %d answers, %d of them different, %d callers gone, %d preemptions, %d failed",
              engine.name(),
              whole,
              different,
              gone,
              preemptions,
              wrong.size()));
      if (different > 0) wrong.add(different + " answers of " + engine.name() + " differ");
      if (whole == 0) wrong.add(engine.name() + " gave no answer");
      return wrong.subList(0, Math.min(5, wrong.size()));
    }
  }
}
