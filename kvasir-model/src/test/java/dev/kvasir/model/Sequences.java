package dev.kvasir.model;

import java.util.Arrays;
import java.util.List;

/** Short ways to run sequences through a model in tests. */
final class Sequences {
  private Sequences() {}

  static TestMemory memory(CpuModel model, int blocks) {
    return new TestMemory(blocks, model.shape().kvBytesPerBlock());
  }

  /** Slots one after the other. */
  static int[] slots(int first, int count) {
    var slots = new int[count];
    Arrays.setAll(slots, i -> first + i);
    return slots;
  }

  /** The logits behind a prompt that is computed in one step and alone. */
  static float[] logits(CpuModel model, TestMemory memory, int[] slots, int... prompt) {
    return step(model, memory, new StepRow(prompt, 0, slots, true));
  }

  /** The logits of one row that is computed alone. */
  static float[] step(CpuModel model, TestMemory memory, StepRow row) {
    var logits = new float[1][model.shape().vocabulary()];
    model.forward(List.of(row), memory, logits);
    return logits[0];
  }

  static int highest(float[] logits) {
    int best = 0;
    for (int i = 1; i < logits.length; i++) if (logits[i] > logits[best]) best = i;
    return best;
  }
}
