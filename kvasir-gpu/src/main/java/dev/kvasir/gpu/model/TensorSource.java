package dev.kvasir.gpu.model;

import java.io.IOException;

/** Where the tensors of a model come from, under the names that GGUF has for them. */
public interface TensorSource {
  boolean has(String name);

  /** The tensor of that name, which must have exactly these sizes, the one along a row first. */
  RawTensor tensor(String name, int... sizes) throws IOException;
}
