package dev.kvasir.bench;

import de.kherud.llama.InferenceParameters;
import de.kherud.llama.LlamaModel;
import de.kherud.llama.ModelParameters;
import dev.kvasir.Nullable;
import dev.kvasir.embedded.step.EngineMemory;
import dev.kvasir.model.BuiltInModel;
import dev.kvasir.model.CpuModel;
import dev.kvasir.model.StepRow;
import dev.kvasir.tiers.host.HostMemory;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Measures how fast the built-in model decodes and prefills, beside llama.cpp.
 *
 * <p>First on one thread and in processor time, so that what else runs on the machine counts
 * little; each round times all of them in turns, and a ratio is the median over the rounds. Then
 * with all threads, in real time.
 */
public final class ModelBench {
  private static final int[] BATCHES = {1, 8, 32};
  private static final int BATCH_MAX = 32;
  private static final int PREFILL_TOKENS = 256;
  private static final int DECODES_AT = 64;
  private static final int STEPS = 48;
  private static final int LLAMA_TOKENS = 192;
  private static final int ROUNDS = 15;
  private static final int WARMUP_ROUNDS = 4;
  private static final int SEQUENCE_BLOCKS = 16;

  private final CpuModel model;
  private final Clock clock;
  private final HostMemory memory;
  private final float[][] logits;

  private ModelBench(CpuModel model, Clock clock) {
    this.model = model;
    this.clock = clock;
    this.memory =
        new HostMemory("kv", BATCH_MAX * SEQUENCE_BLOCKS, model.shape().kvBytesPerBlock());
    this.logits = new float[BATCH_MAX][model.shape().vocabulary()];
  }

  /**
   * Measured case: the task processes that many tokens, and the rate is in tokens a second of that
   * clock.
   */
  private record Case(String name, int tokens, Clock clock, Runnable task) {}

  /** A clock in nanoseconds. */
  @FunctionalInterface
  private interface Clock {
    long nanos();
  }

  public static void main(String[] args) throws IOException {
    int threads = Runtime.getRuntime().availableProcessors();
    var file = BuiltInModel.file(Files.createTempDirectory("kvasir-bench"));
    try (var model = CpuModel.open(file, 1)) {
      alone(model, file);
    }
    try (var model = CpuModel.open(file, threads)) {
      var bench = new ModelBench(model, System::nanoTime);
      var cases = new ArrayList<Case>();
      for (int batch : BATCHES) cases.add(bench.decode(batch));
      cases.add(bench.prefill());
      var rates = rates(cases);
      System.out.printf("%n%d threads, real time%n", threads);
      for (int i = 0; i < cases.size(); i++) {
        print(cases.get(i).name, Median.of(rates[i]), "");
      }
      System.out.printf(
          Locale.ROOT, "%-34s %10.2f%n", "batch 32 to batch 1", Median.ratio(rates[2], rates[0]));
    }
    // A thread of llama.cpp's outlives its model, and would keep the process alive.
    System.exit(0);
  }

  private static void alone(CpuModel model, Path file) {
    var bench = new ModelBench(model, ModelBench::threadNanos);
    var cases = new ArrayList<Case>();
    for (int batch : BATCHES) cases.add(bench.decode(batch));
    cases.add(bench.prefill());
    var llama = llama(file);
    if (llama != null) cases.add(llamaDecode(llama));
    var rates = rates(cases);
    System.out.println("one thread, tokens a second of processor time");
    for (int i = 0; i < cases.size(); i++) {
      var comparison =
          i == 0 && llama != null
              ? times(Median.ratio(rates[0], rates[cases.size() - 1]), "llama.cpp")
              : "";
      print(cases.get(i).name, Median.of(rates[i]), comparison);
    }
    System.out.printf(
        Locale.ROOT, "%-34s %10.2f%n", "batch 32 to batch 1", Median.ratio(rates[2], rates[0]));
    if (llama != null) llama.close();
  }

  private static String times(double ratio, String what) {
    return String.format(Locale.ROOT, "  %.2f times %s", ratio, what);
  }

  private static void print(String name, double rate, String comparison) {
    System.out.printf(Locale.ROOT, "%-34s %10.0f%s%n", name, rate, comparison);
  }

  private Case decode(int batch) {
    return new Case(
        "decode at batch " + batch,
        STEPS * batch,
        clock,
        () -> {
          for (int step = 0; step < STEPS; step++) {
            var rows = new ArrayList<StepRow>();
            for (int i = 0; i < batch; i++) {
              rows.add(new StepRow(new int[] {100 + i + step}, DECODES_AT + step, slots(i), true));
            }
            model.forward(rows, new EngineMemory(memory), logits);
          }
        });
  }

  private Case prefill() {
    var tokens = new int[PREFILL_TOKENS];
    Arrays.setAll(tokens, i -> 100 + i);
    return new Case(
        "prefill of " + PREFILL_TOKENS,
        PREFILL_TOKENS,
        clock,
        () ->
            model.forward(
                List.of(new StepRow(tokens, 0, slots(0), true)), new EngineMemory(memory), logits));
  }

  private static int[] slots(int sequence) {
    var slots = new int[SEQUENCE_BLOCKS];
    Arrays.setAll(slots, i -> sequence * SEQUENCE_BLOCKS + i);
    return slots;
  }

  private static @Nullable LlamaModel llama(Path file) {
    try {
      return new LlamaModel(
          new ModelParameters()
              .setModel(file.toString())
              .setThreads(1)
              .setThreadsBatch(1)
              .setCtxSize(1024)
              .disableLog());
    } catch (LinkageError | RuntimeException missing) {
      System.out.println("no comparison with llama.cpp: " + missing);
      return null;
    }
  }

  /** It has a server's loop around the model; the prompt is short, and kept. */
  private static Case llamaDecode(LlamaModel llama) {
    return new Case(
        "llama.cpp, decode at batch 1",
        LLAMA_TOKENS,
        ModelBench::processNanos,
        () -> {
          var parameters =
              new InferenceParameters("the ".repeat(DECODES_AT))
                  .setTemperature(0)
                  .setNPredict(LLAMA_TOKENS)
                  .setIgnoreEos(true)
                  .setCachePrompt(true);
          for (var _ : llama.generate(parameters)) {}
        });
  }

  /** Tokens a second by case and round. */
  private static double[][] rates(List<Case> cases) {
    var rates = new double[cases.size()][ROUNDS];
    for (int round = -WARMUP_ROUNDS; round < ROUNDS; round++) {
      for (int i = 0; i < cases.size(); i++) {
        var one = cases.get(i);
        long begin = one.clock.nanos();
        one.task.run();
        long elapsed = Math.max(1, one.clock.nanos() - begin);
        if (round >= 0) rates[i][round] = one.tokens * 1e9 / elapsed;
      }
    }
    return rates;
  }

  private static long threadNanos() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }

  /**
   * Returns the processor time of all threads of this process, llama.cpp's own among them; in
   * coarse steps.
   */
  private static long processNanos() {
    var system =
        (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    return system.getProcessCpuTime();
  }
}
