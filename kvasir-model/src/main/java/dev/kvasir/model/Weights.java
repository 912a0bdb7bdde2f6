package dev.kvasir.model;

import dev.kvasir.Nullable;
import dev.kvasir.model.compute.Kernels.Norm;
import dev.kvasir.model.compute.PackedMatrix;
import dev.kvasir.model.gguf.GgufFile;
import dev.kvasir.model.gguf.ModelFileException;
import dev.kvasir.model.gguf.Tensor;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;

/** All weights of a model, copied out of its file and packed for the kernels. */
record Weights(
    PackedMatrix embedding, List<Layer> layers, Norm outputNorm, PackedMatrix head, Rope rope) {

  /** The three parts of the matrix that makes queries, keys and values. */
  static final int QUERIES = 0;

  static final int KEYS = 1;
  static final int VALUES = 2;

  /** The two parts of the matrix that leads into the inner layer. */
  static final int GATE = 0;

  static final int UP = 1;

  /**
   * The weights of one layer.
   *
   * @param bias what is added to queries, keys and values, as the matrix has its outputs
   */
  @SuppressWarnings("ArrayRecordComponent")
  record Layer(
      Norm attentionNorm,
      PackedMatrix attention,
      float @Nullable [] bias,
      @Nullable Norm queryNorm,
      @Nullable Norm keyNorm,
      PackedMatrix attentionOutput,
      Norm innerNorm,
      PackedMatrix inner,
      PackedMatrix innerOutput) {}

  /** Reads one model. */
  private record Reader(GgufFile file, ModelShape shape, int lanes, Arena arena) {
    private Norm norm(String name, int size) throws ModelFileException {
      return new Norm(file.tensor(name, size).vector(), shape.epsilon());
    }

    private PackedMatrix pack(Tensor... parts) {
      return new PackedMatrix(List.of(parts), lanes, arena);
    }

    private Layer layer(int index) throws ModelFileException {
      var block = "blk." + index + ".";
      int width = shape.width();
      int queries = shape.heads() * shape.headSize();
      int keys = shape.kvHeads() * shape.headSize();
      int inner = shape.feedForward();
      var attention =
          pack(
              file.tensor(block + "attn_q.weight", width, queries),
              file.tensor(block + "attn_k.weight", width, keys),
              file.tensor(block + "attn_v.weight", width, keys));
      boolean normed = shape.architecture() == Architecture.QWEN3;
      return new Layer(
          norm(block + "attn_norm.weight", width),
          attention,
          bias(block, attention, queries, keys),
          normed ? norm(block + "attn_q_norm.weight", shape.headSize()) : null,
          normed ? norm(block + "attn_k_norm.weight", shape.headSize()) : null,
          pack(file.tensor(block + "attn_output.weight", queries, width)),
          norm(block + "ffn_norm.weight", width),
          pack(
              file.tensor(block + "ffn_gate.weight", width, inner),
              file.tensor(block + "ffn_up.weight", width, inner)),
          pack(file.tensor(block + "ffn_down.weight", inner, width)));
    }

    private float @Nullable [] bias(String block, PackedMatrix matrix, int queries, int keys)
        throws ModelFileException {
      if (!file.has(block + "attn_q.bias")) {
        if (shape.architecture() != Architecture.QWEN2) return null;
        throw file.wrong("it has no tensor " + block + "attn_q.bias");
      }
      var bias = new float[matrix.outputs()];
      file.tensor(block + "attn_q.bias", queries).row(0, bias, matrix.output(QUERIES));
      file.tensor(block + "attn_k.bias", keys).row(0, bias, matrix.output(KEYS));
      file.tensor(block + "attn_v.bias", keys).row(0, bias, matrix.output(VALUES));
      return bias;
    }

    private Rope rope() throws ModelFileException {
      var name = "rope_freqs.weight";
      return new Rope(
          shape, file.has(name) ? file.tensor(name, shape.headSize() / 2).vector() : null);
    }

    private Weights weights() throws ModelFileException {
      int width = shape.width();
      var embedding = pack(file.tensor("token_embd.weight", width, shape.vocabulary()));
      var head =
          file.has("output.weight")
              ? pack(file.tensor("output.weight", width, shape.vocabulary()))
              : embedding;
      var layers = new ArrayList<Layer>();
      for (int i = 0; i < shape.layers(); i++) layers.add(layer(i));
      return new Weights(
          embedding, List.copyOf(layers), norm("output_norm.weight", width), head, rope());
    }
  }

  /** Packs the weights for vectors of so many lanes; the file may be closed afterwards. */
  static Weights of(GgufFile file, ModelShape shape, int lanes, Arena arena)
      throws ModelFileException {
    return new Reader(file, shape, lanes, arena).weights();
  }
}
