package dev.kvasir.gpu.engine;

import dev.kvasir.embedded.EmbeddedEngine;
import dev.kvasir.embedded.EngineGroup;
import dev.kvasir.embedded.EngineGroupSettings;
import dev.kvasir.embedded.LoadedModel;
import dev.kvasir.embedded.ServedModel;
import dev.kvasir.embedded.step.Generation;
import dev.kvasir.embedded.step.GenerationEnd;
import dev.kvasir.embedded.step.GenerationListener;
import dev.kvasir.embedded.step.GenerationRequest;
import dev.kvasir.embedded.step.Piece;
import dev.kvasir.embedded.step.StepTime;
import dev.kvasir.engine.EngineSettings;
import dev.kvasir.engine.PlanningSettings;
import dev.kvasir.gpu.CudaAnswer;
import dev.kvasir.gpu.library.CudaLibraries;
import dev.kvasir.gpu.model.GpuShape;
import dev.kvasir.model.sample.SamplingSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * Measures what an engine with made-up weights does while so many sequences run and so many wait,
 * in each planning mode: tokens a second, and how long the GPU waits between steps by its own
 * clock.
 *
 * <p>Answers have lengths of their own, so that somebody ends and somebody is admitted all the
 * time; who ends asks anew, so that as many wait throughout.
 */
public final class EngineCurves {
  private static final int STEP_TOKENS = 8_192;
  private static final int BLOCKS = 16_384;
  private static final int PROMPT_TOKENS = 16;
  private static final int ANSWER_MIN = 100;
  private static final int ANSWER_MAX = 300;
  private static final Duration SETTLING = Duration.ofMillis(500);
  private static final Duration ENDING_MAX = Duration.ofSeconds(60);

  private final CudaAnswer.Answered ready;
  private final CudaLibraries libraries;
  private final Path folder;
  private final Consumer<String> out;

  /**
   * One point of the curves.
   *
   * @param idleShare of the time between the first step and the last
   * @param gapMicros the longest wait between two steps but one in a hundred
   */
  public record Point(
      String shape,
      PlanningSettings.Mode mode,
      int running,
      int waiting,
      double tokensPerSecond,
      double stepMillis,
      double idleShare,
      double gapMicros,
      long steps,
      int failed) {
    /** As a line of JSON. */
    public String json() {
      return String.format(
          Locale.ROOT,
          "{\"shape\":\"%s\",\"mode\":\"%s\",\"running\":%d,\"waiting\":%d,"
              + "\"tokens_per_sec\":%.1f,\"step_ms\":%.4f,\"idle_share\":%.6f,"
              + "\"gap_p99_us\":%.1f,\"steps\":%d,\"failed\":%d}",
          shape,
          mode.name().toLowerCase(Locale.ROOT),
          running,
          waiting,
          tokensPerSecond,
          stepMillis,
          idleShare,
          gapMicros,
          steps,
          failed);
    }
  }

  public EngineCurves(
      CudaAnswer.Answered ready, CudaLibraries libraries, Path folder, Consumer<String> out) {
    this.ready = ready;
    this.libraries = libraries;
    this.folder = folder;
    this.out = out;
  }

  /** All points of a shape; each is measured for so long. */
  public List<Point> run(
      String name, GpuShape shape, List<Integer> running, List<Integer> waiting, Duration time)
      throws IOException {
    var points = new ArrayList<Point>();
    var sizes =
        new GpuDevice.Settings(
            BLOCKS, STEP_TOKENS, 256, folder.resolve("kernels"), GpuDevice.Weights.OF_FILE);
    try (var device = GpuDevice.random(ready, libraries, shape, sizes);
        var model = new LoadedModel(served(shape), device)) {
      for (int count : running) {
        for (int queued : waiting) {
          for (var mode : PlanningSettings.Mode.values()) {
            var point = point(name, model, mode, count, queued, time);
            points.add(point);
            out.accept(
                String.format(
                    Locale.ROOT,
                    "%-4s %-10s running %3d waiting %5d: %8.0f tokens/s, step %7.3f ms,"
                        + " idle %6.3f %%, gap p99 %6.1f us, %d failed",
                    name,
                    mode,
                    count,
                    queued,
                    point.tokensPerSecond,
                    point.stepMillis,
                    100 * point.idleShare,
                    point.gapMicros,
                    point.failed));
          }
        }
      }
    }
    return points;
  }

  private ServedModel served(GpuShape shape) throws IOException {
    return ServedModel.withoutWeights("made up", folder, shape.contextTokens());
  }

  private static Point point(
      String name,
      LoadedModel model,
      PlanningSettings.Mode mode,
      int running,
      int waiting,
      Duration time)
      throws IOException {
    var engine = EngineSettings.of(running, STEP_TOKENS).with(PlanningSettings.of(mode));
    var settings = EngineGroupSettings.of(1, BLOCKS, 0, 0, null, engine);
    try (var group = EngineGroup.open(model, settings)) {
      var callers = new Callers(group.engines().getFirst());
      group.reportSteps(callers::stepped);
      callers.begin(running + waiting);
      callers.window(SETTLING, time);
      callers.end();
      return new Point(
          name,
          mode,
          running,
          waiting,
          callers.tokens / callers.seconds(),
          1e3 * callers.seconds() / callers.gaps.size(),
          callers.idleShare(),
          callers.gapMicros(),
          callers.gaps.size(),
          callers.failed);
    }
  }

  /** Those who ask, each anew when it has its answer. Belongs to the engine's loop. */
  private static final class Callers implements GenerationListener {
    private final EmbeddedEngine engine;
    private final Random random = new Random(5);
    private final Set<Generation> open = new LinkedHashSet<>();
    private final List<Long> gaps = new ArrayList<>();
    private boolean isMeasuring;
    private boolean isEnding;
    private long beganNanos;
    private long endedNanos;
    private long busyNanos;
    private long idleNanos;
    private long tokens;
    private int failed;
    private int sent;

    Callers(EmbeddedEngine engine) {
      this.engine = engine;
    }

    void begin(int count) {
      onLoop(
          () -> {
            for (int i = 0; i < count; i++) send();
          });
    }

    private void send() {
      var prompt = random.ints(PROMPT_TOKENS, 3, 4_000).toArray();
      int length = random.nextInt(ANSWER_MIN, ANSWER_MAX + 1);
      var request =
          new GenerationRequest(
              "r" + sent++, "", prompt, length, length, SamplingSettings.greedy(), List.of(), 0);
      open.add(engine.submit(request, this));
    }

    void stepped(StepTime time) {
      if (!isMeasuring) return;
      busyNanos += time.nanos();
      idleNanos += time.idleNanos();
      gaps.add(time.idleNanos());
    }

    @Override
    public void grown(Generation generation, Piece piece) {
      if (isMeasuring) tokens++;
    }

    @Override
    public void ended(Generation generation, GenerationEnd end) {
      open.remove(generation);
      if (isEnding) return;
      if (!(end instanceof GenerationEnd.Full)) failed++;
      // Not within the engine's own turn.
      engine.loop().execute(this::sendIfGoingOn);
    }

    private void sendIfGoingOn() {
      if (!isEnding) send();
    }

    /** Waits, and then measures for so long. */
    void window(Duration settling, Duration time) {
      pause(settling);
      onLoop(
          () -> {
            isMeasuring = true;
            beganNanos = System.nanoTime();
          });
      pause(time);
      onLoop(
          () -> {
            isMeasuring = false;
            endedNanos = System.nanoTime();
          });
    }

    void end() {
      onLoop(
          () -> {
            isEnding = true;
            for (var each : List.copyOf(open)) engine.abort(each);
          });
    }

    double seconds() {
      return (endedNanos - beganNanos) * 1e-9;
    }

    double idleShare() {
      return (double) idleNanos / Math.max(1, busyNanos + idleNanos);
    }

    double gapMicros() {
      if (gaps.isEmpty()) return 0;
      var sorted = gaps.stream().mapToLong(Long::longValue).sorted().toArray();
      return sorted[(int) (0.99 * (sorted.length - 1))] * 1e-3;
    }

    private void onLoop(Runnable task) {
      var done = new CompletableFuture<Void>();
      engine
          .loop()
          .execute(
              () -> {
                try {
                  task.run();
                  done.complete(null);
                } catch (RuntimeException | Error failure) {
                  done.completeExceptionally(failure);
                }
              });
      try {
        done.get(ENDING_MAX.toSeconds(), TimeUnit.SECONDS);
      } catch (InterruptedException | ExecutionException | TimeoutException e) {
        throw new IllegalStateException(e);
      }
    }

    private static void pause(Duration time) {
      try {
        Thread.sleep(time);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
