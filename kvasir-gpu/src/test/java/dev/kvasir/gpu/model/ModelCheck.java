package dev.kvasir.gpu.model;

import dev.kvasir.embedded.step.EngineMemory;
import dev.kvasir.gpu.CudaDevice;
import dev.kvasir.gpu.CudaHandle;
import dev.kvasir.gpu.library.CudaLibraries;
import dev.kvasir.gpu.model.GpuGreedy.Reading;
import dev.kvasir.gpu.model.GpuModelSettings.Graphs;
import dev.kvasir.gpu.model.KernelTuning.Begin;
import dev.kvasir.model.CpuModel;
import dev.kvasir.model.ModelShape;
import dev.kvasir.model.StepRow;
import dev.kvasir.model.gguf.GgufFile;
import dev.kvasir.tiers.host.HostMemory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

/** A model on the GPU against the same model on the processor. */
final class ModelCheck implements AutoCloseable {
  /** Prompts of the built-in model: what harbor means, and river. */
  static final List<int[]> PROMPTS =
      List.of(
          new int[] {
            1, 1318, 1385, 201, 3885, 405, 2088, 88, 307, 359, 14, 260, 286, 717, 337, 292, 2355,
            558, 16, 2, 201, 1, 391, 265, 201, 313, 521, 299, 945, 270, 328, 33, 2, 201, 1, 533,
            404, 410, 201
          },
          new int[] {
            1, 1318, 1385, 201, 3885, 405, 2088, 88, 307, 359, 14, 260, 286, 717, 337, 292, 2355,
            558, 16, 2, 201, 1, 391, 265, 201, 554, 3121, 16, 2, 201, 1, 533, 404, 410, 201
          });

  /** Error that bf16 may cause in the logits of a small model, as a part of their size. */
  private static final double LOGITS_ERROR = 0.03;

  /** Logits of about 40 that are as close as this may change their places in bf16. */
  private static final double MARGIN_MAX = 0.5;

  /** The ways a model runs. */
  private record Way(Graphs graphs, KernelTuning tuning) {}

  private static final KernelTuning IN_TURN = new KernelTuning(Begin.IN_TURN, 2);

  private static final List<Way> WAYS =
      List.of(
          new Way(Graphs.USED, KernelTuning.USUAL),
          new Way(Graphs.UNUSED, KernelTuning.USUAL),
          new Way(Graphs.USED, IN_TURN));

  private final CudaDevice device;
  private final CudaLibraries libraries;
  private final GgufFile file;
  private final CpuModel cpu;
  private final Path cache;
  private final Consumer<String> out;
  private final List<String> wrong = new ArrayList<>();

  ModelCheck(
      CudaDevice device, CudaLibraries libraries, Path model, Path cache, Consumer<String> out)
      throws IOException {
    this.device = device;
    this.libraries = libraries;
    this.file = GgufFile.open(model);
    this.cpu = CpuModel.open(model, 2);
    this.cache = cache;
    this.out = out;
  }

  /** Answer of the processor, and how sure it is. */
  @SuppressWarnings("ArrayRecordComponent")
  private record Answer(float[] logits, int[] tokens, double[] margins) {}

  /** Runs the check, and returns what was wrong; empty where nothing was. */
  List<String> run(int tokens, List<Integer> batches) throws IOException {
    var answers = new ArrayList<Answer>();
    for (var prompt : PROMPTS) answers.add(processor(prompt, tokens));
    var tensors = new GgufTensors(file);
    var shape = tensors.shape();
    int most = batches.stream().mapToInt(Integer::intValue).max().orElse(1);
    int blocks = (most + 2) * ModelShape.blocks(64 + tokens);
    try (CudaHandle kv = device.allocate((long) blocks * shape.blockBytes())) {
      for (var way : WAYS) {
        var graphs = way.graphs;
        var settings =
            new GpuModelSettings(40 * most + 1024, Math.max(2, most), graphs, cache, way.tuning);
        var place = new GpuModel.Place(device, libraries, new GpuModel.KvPlace(kv.value(), blocks));
        try (var model = GpuModel.load(place, shape, settings, tensors)) {
          out.accept("  " + model.libraries() + ", graphs " + graphs + ", " + way.tuning);
          logits(model, answers);
          for (int batch : batches) tokens(model, answers, batch, tokens, graphs);
        }
      }
    }
    return wrong;
  }

  private Answer processor(int[] prompt, int count) {
    var tokens = new int[count];
    var margins = new double[count];
    int blocks = (prompt.length + count + 15) / 16;
    try (var memory = new HostMemory("kv", blocks, cpu.shape().kvBytesPerBlock())) {
      var at = new EngineMemory(memory);
      var slots = new int[blocks];
      Arrays.setAll(slots, i -> i);
      var logits = new float[1][cpu.shape().vocabulary()];
      float[] first = {};
      int position = 0;
      int[] input = prompt;
      for (int i = 0; i < count; i++) {
        cpu.forward(List.of(new StepRow(input, position, slots, true)), at, logits);
        if (i == 0) first = logits[0].clone();
        position += input.length;
        tokens[i] = highest(logits[0], -1);
        margins[i] = logits[0][tokens[i]] - logits[0][highest(logits[0], tokens[i])];
        input = new int[] {tokens[i]};
      }
      return new Answer(first, tokens, margins);
    }
  }

  private static int highest(float[] logits, int but) {
    int best = but == 0 ? 1 : 0;
    for (int i = 0; i < logits.length; i++) if (i != but && logits[i] > logits[best]) best = i;
    return best;
  }

  private void logits(GpuModel model, List<Answer> answers) throws IOException {
    for (int i = 0; i < answers.size(); i++) {
      var prompt = PROMPTS.get(i);
      var blocks = new int[ModelShape.blocks(prompt.length)];
      for (int b = 0; b < blocks.length; b++) blocks[b] = blocks.length - 1 - b;
      var row = new GpuRow(prompt, 0, blocks, new GpuRow.Choice.Likeliest());
      model.launch(List.of(row), model.feed()).await();
      var found = model.logits(0);
      var right = answers.get(i).logits;
      double difference = 0;
      double size = 0;
      for (int t = 0; t < right.length; t++) {
        difference += Math.pow(found[t] - right[t], 2);
        size += Math.pow(right[t], 2);
      }
      double error = Math.sqrt(difference / size);
      print(
          error <= LOGITS_ERROR,
          "logits of prompt %d: error %.2e (at most %.0e)",
          i,
          error,
          LOGITS_ERROR);
    }
  }

  /** Different batches, read early and late, whole prompts and chunks: the same tokens. */
  private void tokens(GpuModel model, List<Answer> answers, int batch, int count, Graphs graphs)
      throws IOException {
    var prompts = new ArrayList<int[]>();
    for (int i = 0; i < batch; i++) prompts.add(PROMPTS.get(i % PROMPTS.size()));
    for (var reading : Reading.values()) {
      for (int chunk : List.of(1_000, 17)) {
        var found = new GpuGreedy(model, reading, chunk).answers(prompts, count);
        int different = 0;
        double margin = 0;
        for (int i = 0; i < batch; i++) {
          var right = answers.get(i % answers.size());
          int at = Arrays.mismatch(found.get(i), right.tokens);
          if (at < 0) continue;
          different++;
          margin = Math.max(margin, right.margins[at]);
        }
        print(
            different == 0 || margin <= MARGIN_MAX,
            "batch %d, %s, chunks of %d, graphs %s: %d of %d differ (margin %.2f)",
            batch,
            reading,
            chunk,
            graphs,
            different,
            batch,
            margin);
      }
    }
  }

  @SuppressWarnings("AnnotateFormatMethod")
  private void print(boolean isRight, String format, Object... values) {
    var line = String.format(Locale.ROOT, format, values);
    out.accept("  " + line + (isRight ? " ok" : " WRONG"));
    if (!isRight) wrong.add(line);
  }

  @Override
  public void close() {
    cpu.close();
    file.close();
  }
}
