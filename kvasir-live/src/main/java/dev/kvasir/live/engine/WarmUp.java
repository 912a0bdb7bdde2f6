package dev.kvasir.live.engine;

import dev.kvasir.live.model.CpuModel;
import dev.kvasir.live.model.ModelShape;
import dev.kvasir.live.model.StepRow;
import dev.kvasir.live.store.HostMemory;
import java.util.Arrays;
import java.util.List;

/** Has the machine compile the model's code before anybody waits for an answer. */
final class WarmUp {
  private static final int PROMPT_TOKENS = 3 * ModelShape.BLOCK_TOKENS;
  private static final int STEPS = 12;
  private static final int BLOCKS = ModelShape.blocks(PROMPT_TOKENS + STEPS);

  private WarmUp() {}

  /** Computes a prompt and a few tokens of nobody's, in memory of its own. */
  static void run(CpuModel model) {
    var logits = new float[1][model.shape().vocabulary()];
    var slots = new int[BLOCKS];
    Arrays.setAll(slots, i -> i);
    var prompt = new int[PROMPT_TOKENS];
    Arrays.setAll(prompt, i -> i % model.shape().vocabulary());
    int[] next = prompt;
    int position = 0;
    try (var memory = new HostMemory("warm-up", BLOCKS, model.shape().kvBytesPerBlock())) {
      for (int step = 0; step < STEPS; step++) {
        model.forward(List.of(new StepRow(next, position, slots, true)), memory, logits);
        position += next.length;
        next = new int[] {step % model.shape().vocabulary()};
      }
    }
  }
}
