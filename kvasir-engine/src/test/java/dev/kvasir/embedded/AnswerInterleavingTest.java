package dev.kvasir.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.embedded.step.GenerationEnd;
import dev.kvasir.embedded.step.GenerationRequest;
import dev.kvasir.engine.EngineSettings;
import dev.kvasir.engine.PlanningSettings;
import dev.kvasir.model.Architecture;
import dev.kvasir.model.CpuModel;
import dev.kvasir.model.TinyModel;
import dev.kvasir.model.gguf.TensorType;
import dev.kvasir.model.sample.SamplingSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Requests that come, share, are given up and make room as chance will have it. */
class AnswerInterleavingTest {
  private static final int SCALE = Integer.getInteger("kvasir.scale", 1);
  private static final int SEEDS = SCALE == 1 ? 60 : 200 * SCALE;
  private static final int STEMS = 3;
  private static final int REQUESTS = 12;

  @TempDir private Path folder;

  @Test
  void noInterleavingChangesAnAnswer() throws IOException {
    try (var model = LoadedModel.open("tiny", tiny(), 2)) {
      nothingChanges(model);
    }
  }

  @Test
  void norDoesOneWhereStepsAreLaunchedAhead() throws IOException {
    var file = tiny();
    var device = new AheadCpuDevice(CpuModel.open(file, 2));
    try (var model = LoadedModel.on(device, file, folder)) {
      nothingChanges(model);
    }
  }

  private Path tiny() {
    var file = new TinyModel(Architecture.LLAMA, 5).writer(TensorType.F32);
    return file.write(folder.resolve("tiny.gguf"));
  }

  private static void nothingChanges(LoadedModel model) throws IOException {
    int preemptions = 0;
    int cached = 0;
    for (int seed = 0; seed < SEEDS; seed++) {
      var answers = new Interleaving(model, seed).run();
      preemptions += answers.preemptions();
      cached += answers.cachedTokens();
    }
    assertThat(preemptions).isPositive();
    assertThat(cached).isPositive();
  }

  /** One seeded run, in which the real threads add some chance of their own. */
  private static final class Interleaving {
    private final LoadedModel model;
    private final long seed;
    private final SplittableRandom random;

    Interleaving(LoadedModel model, long seed) {
      this.model = model;
      this.seed = seed;
      this.random = new SplittableRandom(seed);
    }

    Answers run() throws IOException {
      var requests = requests();
      var answers = new Answers(REQUESTS);
      try (var group = EngineGroup.open(model, settings())) {
        for (var request : requests) {
          var engine = group.engines().get(random.nextInt(group.engines().size()));
          int abortAfter = random.nextInt(6) == 0 ? random.nextInt(400) : -1;
          engine.loop().execute(() -> submit(engine, request, answers, abortAfter));
          LockSupport.parkNanos(random.nextInt(300_000));
        }
        answers.await();
        assertThat(group.drain(Duration.ofSeconds(30))).as("seed %s", seed).isTrue();
        for (var engine : group.engines()) {
          assertThat(engine.load().blocksUsed()).as("seed %s, used blocks", seed).isZero();
        }
      }
      for (var request : requests) check(answers, request);
      return answers;
    }

    private static void submit(
        EmbeddedEngine engine, GenerationRequest request, Answers answers, int abortAfter) {
      var generation = engine.submit(request, answers);
      if (abortAfter < 0) return;
      engine.loop().after(Duration.ofNanos(abortAfter * 1_000L), () -> engine.abort(generation));
    }

    private void check(Answers answers, GenerationRequest request) {
      var expected = Answers.alone(model, request);
      var tokens = answers.tokens(request.id());
      if (answers.end(request.id()) instanceof GenerationEnd.Aborted) {
        expected = expected.subList(0, tokens.size());
      }
      assertThat(tokens).as("seed %s, request %s", seed, request.id()).isEqualTo(expected);
    }

    private EngineGroupSettings settings() {
      var modes = PlanningSettings.Mode.values();
      var engine =
          EngineSettings.of(
                  2 + random.nextInt(15),
                  24 + random.nextInt(100),
                  random.nextBoolean() ? 0 : 8 + random.nextInt(24),
                  0,
                  EngineSettings.DEFAULT.order(),
                  EngineSettings.DEFAULT.victim())
              .with(PlanningSettings.of(modes[random.nextInt(modes.length)]));
      int device = 9 + random.nextInt(24);
      int host = random.nextBoolean() ? 0 : 8 + random.nextInt(64);
      return EngineGroupSettings.of(1 + random.nextInt(2), device, host, 0, null, engine);
    }

    /** Prompts that begin with one of a few stems, or with a part of one. */
    private List<GenerationRequest> requests() {
      var stems = new ArrayList<int[]>();
      for (int i = 0; i < STEMS; i++) stems.add(random.ints(70, 3, 250).toArray());
      var requests = new ArrayList<GenerationRequest>();
      for (int i = 0; i < REQUESTS; i++) {
        var stem = stems.get(random.nextInt(STEMS));
        int shared = 1 + random.nextInt(stem.length);
        int own = random.nextInt(20);
        var prompt = new int[shared + own];
        System.arraycopy(stem, 0, prompt, 0, shared);
        for (int t = 0; t < own; t++) prompt[shared + t] = 3 + random.nextInt(247);
        int tokensMax = 1 + random.nextInt(30);
        var sampling =
            random.nextBoolean()
                ? SamplingSettings.greedy()
                : SamplingSettings.seeded(1.5, random.nextLong());
        requests.add(GenerationRequest.of("r" + i, prompt, tokensMax, sampling));
      }
      return requests;
    }
  }
}
