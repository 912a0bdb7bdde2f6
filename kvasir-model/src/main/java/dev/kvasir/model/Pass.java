package dev.kvasir.model;

import dev.kvasir.model.compute.Kernels;
import dev.kvasir.model.compute.Kernels.Norm;
import dev.kvasir.model.compute.PackedMatrix;
import dev.kvasir.model.compute.ParallelRunner;
import java.util.List;

/**
 * The forward pass of some rows through all layers, with its buffers.
 *
 * <p>In each layer the keys and values of all its rows are written before any of them attends, so a
 * row may use a block that another row fills in the same step.
 */
final class Pass {
  /** So many tokens of a product stay in the cache of a core, together with a strip. */
  private static final int TILE_TOKENS = 64;

  private final ModelShape shape;
  private final Weights weights;
  private final Kernels kernels;
  private final Team team;
  private final Attention attention;
  private PassBuffers buffers;
  private PassTokens tokens;

  /** Runs the units of one piece of work of so many multiplications. */
  @FunctionalInterface
  interface Team {
    void run(int units, long multiplications, ParallelRunner.Work work);
  }

  Pass(ModelShape shape, Weights weights, Kernels kernels, Team team, int workers) {
    this.shape = shape;
    this.weights = weights;
    this.kernels = kernels;
    this.team = team;
    this.attention = new Attention(shape, kernels, team, workers);
    this.buffers = PassBuffers.of(shape, weights, 1);
    this.tokens = PassTokens.none();
  }

  /** Computes the rows; the logits of the sampled ones go where the sink says. */
  void run(PassTokens rows, LogitSink sink) {
    tokens = rows;
    attention.begin(rows);
    if (buffers.tokens() < rows.count()) buffers = PassBuffers.of(shape, weights, rows.count());
    int width = shape.width();
    for (int t = 0; t < rows.count(); t++) {
      weights.embedding().row(rows.token(t), 1, buffers.x(), t * width);
    }
    for (int index = 0; index < shape.layers(); index++) {
      var layer = weights.layers().get(index);
      project(index, layer);
      if (index == shape.layers() - 1) keepSampled(layer.attention().outputs());
      if (tokens.count() == 0) return;
      attention.run(index, layer, tokens, buffers);
      finish(layer.attentionOutput());
      inner(layer);
    }
    head(tokens.sampledRows(), sink);
  }

  /** Takes the logits of a row. */
  @FunctionalInterface
  interface LogitSink {
    void accept(int row, float[] logits, int from);
  }

  /** Computes queries, keys and values of all tokens. */
  private void project(int index, Weights.Layer layer) {
    var matrix = layer.attention();
    normalize(layer.attentionNorm(), matrix.scale());
    multiply(matrix, buffers.normed(), tokens.count(), buffers.projected());
    for (int t = 0; t < tokens.count(); t++) place(index, layer, t, t * matrix.outputs());
  }

  /** Once all keys and values are written, nobody asks for the rest of a token not sampled. */
  private void keepSampled(int projected) {
    var sampled = tokens.sampledRows();
    for (int i = 0; i < sampled.size(); i++) {
      int from = sampled.get(i).token();
      move(buffers.x(), from, i, shape.width());
      move(buffers.projected(), from, i, projected);
    }
    tokens = tokens.sampled();
    attention.begin(tokens);
  }

  private static void move(float[] rows, int from, int to, int size) {
    System.arraycopy(rows, from * size, rows, to * size, size);
  }

  /** Turns one token's queries and keys, and writes its keys and values into its block. */
  private void place(int index, Weights.Layer layer, int token, int at) {
    var x = buffers.projected();
    int size = shape.headSize();
    int position = tokens.position(token);
    var bias = layer.bias();
    if (bias != null) kernels.add(x, at, bias, 0, bias.length);
    float factor = (float) (1 / Math.sqrt(size));
    for (int head = 0; head < shape.heads(); head++) {
      int from = at + head * size;
      var norm = layer.queryNorm();
      if (norm != null) kernels.normalize(norm, x, from, 1, x, from);
      weights.rope().turn(x, from, position, factor);
    }
    for (int head = 0; head < shape.kvHeads(); head++) {
      int from = at + layer.attention().output(Weights.KEYS) + head * size;
      var norm = layer.keyNorm();
      if (norm != null) kernels.normalize(norm, x, from, 1, x, from);
      weights.rope().turn(x, from, position, 1);
      tokens.writeKey(token, shape.keysAt(index, head), size, x, from);
      from = at + layer.attention().output(Weights.VALUES) + head * size;
      tokens.writeValue(token, shape.valuesAt(index, head), size, x, from);
    }
  }

  private void inner(Weights.Layer layer) {
    var matrix = layer.inner();
    var gated = buffers.gated();
    normalize(layer.innerNorm(), matrix.scale());
    multiply(matrix, buffers.normed(), tokens.count(), gated);
    int size = shape.feedForward();
    float scale = layer.innerOutput().scale();
    for (int t = 0; t < tokens.count(); t++) {
      int gate = t * matrix.outputs() + matrix.output(Weights.GATE);
      int up = t * matrix.outputs() + matrix.output(Weights.UP);
      kernels.gate(gated, gate, up, size, scale, buffers.mixed(), t * size);
    }
    finish(layer.innerOutput());
  }

  private void normalize(Norm norm, float scale) {
    int width = shape.width();
    for (int t = 0; t < tokens.count(); t++) {
      kernels.normalize(norm, buffers.x(), t * width, scale, buffers.normed(), t * width);
    }
  }

  /** Multiplies what the layer has mixed, and adds it to what came in. */
  private void finish(PackedMatrix matrix) {
    multiply(matrix, buffers.mixed(), tokens.count(), buffers.finished());
    int width = shape.width();
    for (int t = 0; t < tokens.count(); t++) {
      kernels.add(buffers.x(), t * width, buffers.finished(), t * matrix.outputs(), width);
    }
  }

  private void multiply(PackedMatrix matrix, float[] x, int count, float[] out) {
    int tiles = (count + TILE_TOKENS - 1) / TILE_TOKENS;
    team.run(
        tiles * matrix.strips(),
        (long) count * matrix.outputs() * matrix.depth(),
        (unit, worker) -> {
          int first = unit / matrix.strips() * TILE_TOKENS;
          int part = Math.min(TILE_TOKENS, count - first);
          int strip = unit % matrix.strips();
          kernels.multiply(matrix, strip, x, first, part, out);
        });
  }

  private void head(List<PassTokens.Sampled> rows, LogitSink sink) {
    if (rows.isEmpty()) return;
    var head = weights.head();
    int width = shape.width();
    for (int i = 0; i < rows.size(); i++) {
      int from = rows.get(i).token() * width;
      kernels.normalize(
          weights.outputNorm(), buffers.x(), from, head.scale(), buffers.normed(), i * width);
    }
    var logits = buffers.logits(rows.size() * head.outputs());
    multiply(head, buffers.normed(), rows.size(), logits);
    for (int i = 0; i < rows.size(); i++) {
      sink.accept(rows.get(i).row(), logits, i * head.outputs());
    }
  }
}
