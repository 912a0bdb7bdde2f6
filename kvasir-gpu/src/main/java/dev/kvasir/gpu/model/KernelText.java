package dev.kvasir.gpu.model;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** The kernels as CUDA text, and how they are compiled. */
public final class KernelText {
  private static final int HOPPER = 90;
  private static final String INTRINSICS = "intrinsics.cuh";
  private static final List<String> FILES =
      List.of(
          "common.cuh",
          "rows.cu",
          "rope.cu",
          "decode_attention.cu",
          "prefill_attention.cu",
          "wide_attention.cu",
          "vector_product.cu",
          "sample.cu",
          "weights.cu");

  private KernelText() {}

  /** All files as one. */
  public static String whole() {
    return file(INTRINSICS) + portable();
  }

  /** All but what only the machine itself understands. */
  static String portable() {
    var text = new StringBuilder();
    for (var name : FILES) text.append(file(name));
    return text.toString();
  }

  private static String file(String name) {
    try (var in = KernelText.class.getResourceAsStream(name)) {
      if (in == null) throw new IllegalStateException(name + " is not beside its class");
      var text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      return "#line 1 \"" + name + "\"\n" + text + "\n";
    } catch (IOException e) {
      throw new UncheckedIOException(name, e);
    }
  }

  /** Returns whether prompts attend by products of four warps, which only Hopper has. */
  static boolean isWide(GpuShape shape, int capability) {
    return capability == HOPPER && (shape.headSize() == 64 || shape.headSize() == 128);
  }

  /** The options for a model on a GPU of that compute capability. */
  static List<String> options(GpuShape shape, int capability, KernelTuning tuning) {
    var options = new ArrayList<String>();
    boolean isWide = isWide(shape, capability);
    options.add("--gpu-architecture=sm_" + capability + (isWide ? "a" : ""));
    if (isWide) options.add("-DWIDE_PRODUCTS");
    options.add("-std=c++17");
    options.add("--fmad=true");
    options.addAll(shape.macros());
    options.addAll(tuning.macros());
    return options;
  }
}
