package dev.kvasir.gpu.model;

import dev.kvasir.model.gguf.Tensor;
import java.io.IOException;

/** The tensors of a model, under the names that GGUF uses; readable until it is closed. */
public interface TensorSource extends AutoCloseable {
  /** The sizes of the model, if it can run on a GPU. */
  GpuShape shape() throws IOException;

  boolean has(String name);

  /** The tensor of that name, which must have exactly these sizes, the one along a row first. */
  Tensor tensor(String name, int... sizes) throws IOException;

  /** The checksum of everything that determines what the model computes. */
  String sha256();

  @Override
  void close();
}
