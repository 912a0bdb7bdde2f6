package dev.kvasir.gpu.model;

import dev.kvasir.gpu.CudaDevice;
import dev.kvasir.gpu.CudaStack;
import dev.kvasir.gpu.CudaStream;
import dev.kvasir.gpu.library.CublasLt;
import dev.kvasir.gpu.library.CudaLibraries;
import dev.kvasir.gpu.model.GpuKernels.LayerKv;
import dev.kvasir.gpu.model.GpuKernels.Product;
import dev.kvasir.gpu.model.GpuKernels.ProductPlaces;
import dev.kvasir.gpu.model.GpuKernels.RopeInput;
import dev.kvasir.model.ModelShape;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.function.LongFunction;

/**
 * Measures how long each kernel and product of a shape takes alone, with what it moves and
 * multiplies.
 */
final class KernelProfile {
  private static final int MATRICES = 8;
  private static final int REPEATS = 24;

  /** Puts one of several equal pieces of work into the stream. */
  private interface Work {
    void launch(int round) throws IOException;
  }

  private final GpuShape shape;
  private final CudaDevice device;
  private final CudaStream stream;
  private final CudaStack resources;
  private final Consumer<String> out;

  private KernelProfile(
      CudaDevice device, GpuShape shape, CudaStack resources, Consumer<String> out)
      throws IOException {
    this.device = device;
    this.shape = shape;
    this.resources = resources;
    this.stream = resources.add(device.stream(CudaDevice.Urgency.USUAL));
    this.out = out;
  }

  static void run(CudaDevice device, CudaLibraries libraries, GpuShape shape, Consumer<String> out)
      throws IOException {
    var code =
        libraries
            .compiler()
            .compile(
                KernelText.whole(),
                KernelText.options(shape, device.capability(), KernelTuning.USUAL));
    try (var resources = new CudaStack()) {
      var kernels = resources.add(new GpuKernels(device, shape, code, KernelTuning.USUAL));
      var profile = new KernelProfile(device, shape, resources, out);
      profile.products(kernels, libraries);
      profile.attention(kernels);
      profile.rows(kernels);
    }
  }

  private long memory(long bytes) throws IOException {
    long at = resources.add(device.allocate(bytes)).value();
    stream.clear(at, bytes);
    return at;
  }

  private void products(GpuKernels kernels, CudaLibraries libraries) throws IOException {
    long wide = Math.max(2L * shape.feedForward(), shape.qkvWidth());
    long rowsMax = 8_192;
    long x = memory(4 * rowsMax * shape.width());
    long input = memory(2 * rowsMax * shape.feedForward());
    long output = memory(4 * rowsMax * wide);
    long norm = memory(4L * shape.width());
    kernels.random(stream, input, rowsMax * shape.feedForward(), 3, 1);
    kernels.random(stream, x, 2 * rowsMax * shape.width(), 4, 1);
    var weights = new ArrayList<Long>();
    long values = wide * shape.width();
    for (int i = 0; i < MATRICES; i++) {
      weights.add(memory(2 * values));
      kernels.random(stream, weights.get(i), values, i, 0.03f);
    }
    for (int rows : List.of(1, 2)) few(kernels, rows, x, input, output, norm, weights);
    long workspace = memory(StepBuffers.WORKSPACE_BYTES);
    try (var library = libraries.matrices(workspace, StepBuffers.WORKSPACE_BYTES)) {
      for (int rows : List.of(1, 4, 8, 16, 32, 64, 128, 256, 2048, 8192)) {
        for (var kind : Kind.values()) product(library, kind, rows, input, output, weights);
      }
    }
  }

  /** The products of a layer. */
  private enum Kind {
    QKV,
    OUT,
    INNER,
    DOWN;

    CublasLt.Shape shape(GpuShape model, int rows) {
      var sum = CublasLt.Into.SUM;
      var bf16 = CublasLt.Into.BF16;
      int width = model.width();
      return switch (this) {
        case QKV -> new CublasLt.Shape(rows, model.qkvWidth(), width, bf16);
        case OUT -> new CublasLt.Shape(rows, width, model.queryWidth(), sum);
        case INNER -> new CublasLt.Shape(rows, 2 * model.feedForward(), width, bf16);
        case DOWN -> new CublasLt.Shape(rows, width, model.feedForward(), sum);
      };
    }
  }

  private void few(
      GpuKernels kernels, int rows, long x, long in, long out, long norm, List<Long> weights)
      throws IOException {
    int width = shape.width();
    int inner = shape.feedForward();
    int queries = shape.queryWidth();
    int qkv = shape.qkvWidth();
    few(
        "qkv",
        kernels,
        Product.NORM,
        rows,
        w -> new ProductPlaces(out, x, norm, w, width, qkv),
        weights);
    few(
        "out",
        kernels,
        Product.ADD,
        rows,
        w -> new ProductPlaces(x, in, 0, w, queries, width),
        weights);
    few(
        "inner",
        kernels,
        Product.GATE,
        rows,
        w -> new ProductPlaces(out, x, norm, w, width, inner),
        weights);
    few(
        "down",
        kernels,
        Product.ADD,
        rows,
        w -> new ProductPlaces(x, in, 0, w, inner, width),
        weights);
  }

  private void few(
      String name,
      GpuKernels kernels,
      Product product,
      int rows,
      LongFunction<ProductPlaces> places,
      List<Long> weights)
      throws IOException {
    var sizes = places.apply(0);
    double bytes = (product == Product.GATE ? 4.0 : 2.0) * sizes.depth() * sizes.outputs();
    time(
        "vector " + name + ", rows " + rows,
        bytes,
        0,
        round -> kernels.product(stream, product, rows, places.apply(weights.get(round))));
  }

  private void product(
      CublasLt library, Kind kind, int rows, long input, long output, List<Long> weights)
      throws IOException {
    var shaped = kind.shape(shape, rows);
    double matrix = (double) shaped.depth() * shaped.outputs();
    double bytes = 2 * matrix + 2.0 * rows * (shaped.depth() + shaped.outputs());
    time(
        "cuBLASLt " + kind + ", rows " + rows,
        bytes,
        2 * rows * matrix,
        round -> library.multiply(stream, shaped, weights.get(round), input, output));
  }

  private void attention(GpuKernels kernels) throws IOException {
    int blocks = 4_096;
    long kv = memory((long) blocks * shape.blockBytes());
    kernels.random(stream, kv, (long) blocks * shape.blockBytes() / 2, 9, 1);
    long qkv = memory(2L * 8_192 * shape.qkvWidth());
    kernels.random(stream, qkv, 8_192L * shape.qkvWidth(), 10, 1);
    long seen = memory(2L * 8_192 * shape.queryWidth());
    decode(kernels, blocks, kv, qkv, seen);
    prefill(kernels, blocks, kv, qkv, seen);
    rope(kernels, blocks, kv, qkv);
  }

  private void decode(GpuKernels kernels, int blocks, long kv, long qkv, long seen)
      throws IOException {
    long partial = memory(4L * 8_192 * shape.queryWidth());
    long sums = memory(8L * 8_192 * shape.heads());
    for (var pair :
        List.of(
            new int[] {1, 200},
            new int[] {1, 4000},
            new int[] {1, 32000},
            new int[] {32, 200},
            new int[] {256, 200},
            new int[] {16, 4000})) {
      var rows = new ArrayList<GpuRow>();
      int each = ModelShape.blocks(pair[1]);
      for (int i = 0; i < pair[0]; i++) {
        var own = new int[each];
        for (int b = 0; b < each; b++) own[b] = (i * each + b) % blocks;
        rows.add(new GpuRow(new int[1], pair[1] - 1, own, new GpuRow.Choice.Likeliest()));
      }
      var at = places(kernels, rows);
      double bytes = (double) pair[0] * pair[1] * shape.layerBytes() / 16;
      time(
          "decode attention, " + pair[0] + " of " + pair[1],
          bytes,
          0,
          round -> kernels.decodeAttention(stream, at, seen, partial, sums, qkv, kv(kv, round)));
    }
  }

  private void prefill(GpuKernels kernels, int blocks, long kv, long qkv, long seen)
      throws IOException {
    for (var pair : List.of(new int[] {0, 2048}, new int[] {0, 8192}, new int[] {24576, 8192})) {
      var own = new int[ModelShape.blocks(pair[0] + pair[1])];
      Arrays.setAll(own, i -> i % blocks);
      var row = new GpuRow(new int[pair[1]], pair[0], own, new GpuRow.Choice.Likeliest());
      var at = places(kernels, List.of(row));
      double scores = (double) pair[1] * (pair[0] + pair[1] / 2.0) * shape.heads();
      time(
          "prefill attention, " + pair[1] + " at " + pair[0],
          0,
          4 * scores * shape.headSize(),
          round -> kernels.prefillAttention(stream, at, seen, qkv, kv(kv, round)));
    }
  }

  private void rope(GpuKernels kernels, int blocks, long kv, long qkv) throws IOException {
    for (int tokens : List.of(1, 256, 8192)) {
      var rows =
          List.of(new GpuRow(new int[tokens], 0, ring(tokens, blocks), new GpuRow.Choice.None()));
      var at = places(kernels, rows);
      long angles = memory(4L * 32_768 * shape.headSize());
      time(
          "rope, tokens " + tokens,
          4.0 * tokens * shape.qkvWidth(),
          0,
          round ->
              kernels.rope(
                  stream,
                  at,
                  qkv,
                  new RopeInput(angles, angles, angles, angles, angles),
                  kv(kv, round)));
    }
  }

  private int[] ring(int tokens, int blocks) {
    var own = new int[ModelShape.blocks(tokens)];
    Arrays.setAll(own, i -> i % blocks);
    return own;
  }

  private LayerKv kv(long address, int round) {
    long layer = round % shape.layers();
    return new LayerKv(address, shape.blockBytes(), layer * shape.layerBytes());
  }

  private StepTables.Places places(GpuKernels kernels, List<GpuRow> rows) throws IOException {
    var tables = new StepTables(rows, kernels.tileQueries());
    try (var scratch = new Scratch(device, 1);
        var arena = Arena.ofShared()) {
      var host = arena.allocate(tables.bytes(tables.sizes()), 64);
      tables.write(host, tables.sizes());
      long at = scratch.up(host);
      long kept = memory(host.byteSize());
      scratch.stream.copyWithin(kept, at, host.byteSize());
      stream.await();
      scratch.stream.copyWithin(kept, at, host.byteSize());
      scratch.stream.await();
      return new StepTables.Places(tables.sizes(), kept);
    }
  }

  private void rows(GpuKernels kernels) throws IOException {
    long x = memory(4L * 8_192 * shape.width());
    long h = memory(2L * 8_192 * shape.width());
    long norm = memory(4L * shape.width());
    long both = memory(4L * 8_192 * shape.feedForward());
    long inner = memory(2L * 8_192 * shape.feedForward());
    long logits = memory(4L * 512 * shape.vocabulary());
    long choices = memory(16 * 512);
    long sampled = memory(4 * 512);
    for (int rows : List.of(1, 32, 256, 8192)) {
      time(
          "norm, rows " + rows,
          6.0 * rows * shape.width(),
          0,
          _ -> kernels.norm(stream, rows, h, x, norm, 0));
      time(
          "gate, rows " + rows,
          6.0 * rows * shape.feedForward(),
          0,
          _ -> kernels.gate(stream, rows, inner, both));
      if (rows > 256) continue;
      time(
          "sample, rows " + rows,
          4.0 * rows * shape.vocabulary(),
          0,
          _ -> kernels.sample(stream, rows, sampled, logits, choices));
    }
  }

  /** The mean of several rounds, launched as a graph so that launching does not count. */
  private void time(String name, double bytes, double operations, Work work) throws IOException {
    work.launch(0);
    stream.await();
    stream.beginCapture();
    for (int i = 0; i < REPEATS; i++) work.launch(i % MATRICES);
    try (var graph = stream.endCapture();
        var begin = device.timedEvent();
        var end = device.timedEvent()) {
      stream.launch(graph);
      stream.record(begin);
      stream.launch(graph);
      stream.record(end);
      stream.await();
      double seconds = end.millisSince(begin) * 1e-3 / REPEATS;
      out.accept(
          String.format(
              Locale.ROOT,
              "%-36s %9.2f us%s%s",
              name,
              1e6 * seconds,
              bytes > 0 ? String.format(Locale.ROOT, " %7.0f GB/s", bytes / seconds * 1e-9) : "",
              operations > 0
                  ? String.format(Locale.ROOT, " %6.1f TFLOP/s", operations / seconds * 1e-12)
                  : ""));
    }
  }
}
