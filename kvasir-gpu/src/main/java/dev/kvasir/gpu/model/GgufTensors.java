package dev.kvasir.gpu.model;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import dev.kvasir.gpu.model.GpuShape.Extra;
import dev.kvasir.gpu.model.GpuShape.RopePairs;
import dev.kvasir.model.Architecture;
import dev.kvasir.model.ModelShape;
import dev.kvasir.model.gguf.GgufFile;
import dev.kvasir.model.gguf.ModelFileException;
import dev.kvasir.model.gguf.Tensor;
import dev.kvasir.model.gguf.TensorType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** The tensors of a GGUF file. */
public record GgufTensors(GgufFile file) implements TensorSource {
  @Override
  public GpuShape shape() throws ModelFileException {
    int vocabulary = file.metadata().texts("tokenizer.ggml.tokens").size();
    var shape = ModelShape.of(file, vocabulary);
    try {
      return new GpuShape(
          shape.layers(),
          shape.width(),
          shape.heads(),
          shape.kvHeads(),
          shape.headSize(),
          shape.feedForward(),
          shape.vocabulary(),
          shape.contextTokens(),
          shape.epsilon(),
          shape.ropeBase(),
          shape.architecture() == Architecture.LLAMA ? RopePairs.NEIGHBOURS : RopePairs.HALVES,
          extra(shape.architecture()));
    } catch (IllegalArgumentException unfit) {
      throw file.wrong(String.valueOf(unfit.getMessage()));
    }
  }

  private Extra extra(Architecture architecture) {
    return switch (architecture) {
      case QWEN3 -> Extra.HEAD_NORM;
      case QWEN2 -> Extra.BIAS;
      case LLAMA -> file.has("blk.0.attn_q.bias") ? Extra.BIAS : Extra.NONE;
    };
  }

  @Override
  public boolean has(String name) {
    return file.has(name);
  }

  @Override
  public Tensor tensor(String name, int... sizes) throws ModelFileException {
    var tensor = file.tensor(name, sizes);
    return tensor.type() == TensorType.Q4_0 ? decoded(tensor) : tensor;
  }

  /** A type that has no kernel of its own travels as floats. */
  private static Tensor decoded(Tensor tensor) {
    var all = Arena.ofAuto().allocate(4 * tensor.count(), 64);
    var row = new float[tensor.depth()];
    for (int i = 0; i < tensor.rows(); i++) {
      tensor.row(i, row, 0);
      MemorySegment.copy(row, 0, all, JAVA_FLOAT, 4L * i * row.length, row.length);
    }
    return new Tensor(tensor.name(), TensorType.F32, tensor.dimensions(), all);
  }

  @Override
  public String sha256() {
    return file.sha256();
  }

  @Override
  public void close() {
    file.close();
  }
}
