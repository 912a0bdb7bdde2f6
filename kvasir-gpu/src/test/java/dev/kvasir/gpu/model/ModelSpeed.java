package dev.kvasir.gpu.model;

import dev.kvasir.gpu.CudaDevice;
import dev.kvasir.gpu.CudaHandle;
import dev.kvasir.gpu.library.CudaLibraries;
import dev.kvasir.gpu.model.GpuGreedy.Reading;
import dev.kvasir.gpu.model.GpuModelSettings.Graphs;
import dev.kvasir.gpu.model.GpuRow.Choice;
import dev.kvasir.gpu.model.GpuShape.Extra;
import dev.kvasir.gpu.model.GpuShape.RopePairs;
import dev.kvasir.model.ModelShape;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.function.Consumer;

/** Measures how fast a model with made-up weights decodes and reads prompts on the GPU. */
final class ModelSpeed implements AutoCloseable {
  /** The shape of eight billion weights, with a small vocabulary. */
  static final GpuShape EIGHT_BILLION =
      new GpuShape(
          32,
          4096,
          32,
          8,
          128,
          14336,
          4096,
          32_768,
          1e-5f,
          500_000,
          RopePairs.NEIGHBOURS,
          Extra.NONE);

  /** The shape of half a billion, whose steps take a millisecond. */
  static final GpuShape HALF_BILLION =
      new GpuShape(
          24, 1024, 16, 8, 64, 4096, 32_768, 32_768, 1e-6f, 1e6f, RopePairs.HALVES, Extra.NONE);

  /** The same with the words of the built-in model. */
  static final GpuShape SMALL =
      new GpuShape(
          24, 1024, 16, 8, 64, 4096, 4096, 32_768, 1e-6f, 1e6f, RopePairs.HALVES, Extra.NONE);

  /** Memory bandwidth of an H200, by its datasheet. */
  private static final double BYTES_PER_SECOND = 4.8e12;

  private static final int STEP_TOKENS = 8_192;
  private static final int ROWS_MAX = 256;
  private static final int PROMPT_TOKENS = 16;
  private static final int ROUNDS = 3;

  private final CudaHandle kv;
  private final GpuModel model;
  private final GpuFeed feed;
  private final Consumer<String> out;
  private final Random random = new Random(7);

  ModelSpeed(
      CudaDevice device,
      CudaLibraries libraries,
      GpuShape shape,
      int kvTokens,
      Path cache,
      KernelTuning tuning,
      Consumer<String> out)
      throws IOException {
    this.out = out;
    int blocks = kvTokens / GpuShape.BLOCK_TOKENS;
    this.kv = device.allocate((long) blocks * shape.blockBytes());
    var settings = new GpuModelSettings(STEP_TOKENS, ROWS_MAX, Graphs.USED, cache, tuning);
    var place = new GpuModel.Place(device, libraries, new GpuModel.KvPlace(kv.value(), blocks));
    this.model = GpuModel.random(place, shape, settings, 11);
    this.feed = model.feed();
  }

  /** Result of some steps. */
  private record Run(double tokensPerSecond, double stepMillis, double idleShare) {}

  /** So many sequences get so many tokens each; the median of three. */
  void decode(int batch, int steps) throws IOException {
    for (var reading : Reading.values()) {
      var warm = decodeOnce(batch, 20, reading);
      var runs = new ArrayList<Run>();
      for (int i = 0; i < ROUNDS; i++) runs.add(decodeOnce(batch, steps, reading));
      runs.sort((a, b) -> Double.compare(a.tokensPerSecond, b.tokensPerSecond));
      var run = runs.get(ROUNDS / 2);
      double share =
          batch > 2 ? 0 : model.shape().weightBytes() / (run.stepMillis * 1e-3) / BYTES_PER_SECOND;
      print(
          "decode %3d %-11s %9.0f tokens/s, step %.3f ms, idle %.2f %%, bandwidth %.2f, warm %.0f",
          batch,
          reading,
          run.tokensPerSecond,
          run.stepMillis,
          100 * run.idleShare,
          share,
          warm.tokensPerSecond);
    }
  }

  private Run decodeOnce(int batch, int steps, Reading reading) throws IOException {
    var blocks = new ArrayList<int[]>();
    int each = ModelShape.blocks(PROMPT_TOKENS + steps + 1);
    for (int i = 0; i < batch; i++) {
      var own = new int[each];
      for (int b = 0; b < each; b++) own[b] = i * each + b;
      blocks.add(own);
    }
    var prompts = new ArrayList<GpuRow>();
    for (var own : blocks) {
      prompts.add(new GpuRow(tokens(PROMPT_TOKENS), 0, own, new Choice.Likeliest()));
    }
    var before = model.launch(prompts, feed);
    before.await();
    double idle = 0;
    double busy = 0;
    long begin = System.nanoTime();
    for (int t = 0; t < steps; t++) {
      var step = model.launch(next(reading, before, blocks, PROMPT_TOKENS + t), feed);
      if (reading == Reading.BEFORE_NEXT || t == steps - 1) step.await();
      else before.await();
      if (t > 1) {
        idle += before.idleMillis();
        busy += before.millis();
      }
      before = step;
    }
    double seconds = (System.nanoTime() - begin) * 1e-9;
    return new Run(batch * steps / seconds, 1e3 * seconds / steps, idle / (idle + busy));
  }

  private static List<GpuRow> next(
      Reading reading, GpuStep before, List<int[]> blocks, int position) {
    var rows = new ArrayList<GpuRow>(blocks.size());
    for (int i = 0; i < blocks.size(); i++) {
      int token = reading == Reading.BEFORE_NEXT ? before.token(i) : ~i;
      rows.add(new GpuRow(new int[] {token}, position, blocks.get(i), new Choice.Likeliest()));
    }
    return rows;
  }

  /** One prompt in chunks, until its first token is here; the median of three. */
  void prefill(int tokens) throws IOException {
    var blocks = new int[ModelShape.blocks(tokens)];
    Arrays.setAll(blocks, i -> i);
    var seconds = new double[ROUNDS + 1];
    for (int round = 0; round <= ROUNDS; round++) {
      long begin = System.nanoTime();
      for (int from = 0; from < tokens; from += STEP_TOKENS) {
        int count = Math.min(STEP_TOKENS, tokens - from);
        var step =
            model.launch(
                List.of(new GpuRow(tokens(count), from, blocks, new Choice.Likeliest())), feed);
        if (from + count == tokens) step.await();
      }
      seconds[round] = (System.nanoTime() - begin) * 1e-9;
    }
    double first = seconds[0];
    Arrays.sort(seconds, 1, ROUNDS + 1);
    double median = seconds[1 + ROUNDS / 2];
    print(
        "prefill %5d %9.0f tokens/s, %.1f ms (first %.1f)",
        tokens, tokens / median, 1e3 * median, 1e3 * first);
  }

  private int[] tokens(int count) {
    return random.ints(count, 0, model.shape().vocabulary()).toArray();
  }

  GpuModel model() {
    return model;
  }

  @SuppressWarnings("AnnotateFormatMethod")
  private void print(String format, Object... values) {
    out.accept(String.format(Locale.ROOT, format, values));
  }

  @Override
  public void close() throws IOException {
    model.close();
    kv.close();
  }
}
