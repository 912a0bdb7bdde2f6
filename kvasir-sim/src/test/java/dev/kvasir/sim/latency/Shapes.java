package dev.kvasir.sim.latency;

import dev.kvasir.sim.latency.ModelSizes.Attention;
import dev.kvasir.sim.latency.ModelSizes.Experts;
import dev.kvasir.sim.latency.ModelSizes.FeedForward;
import dev.kvasir.sim.latency.ModelSizes.Precision;
import dev.kvasir.sim.latency.ModelSizes.Vocabulary;
import dev.kvasir.sim.latency.StepShape.Prefill;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/** Models and steps to ask latency models about. */
final class Shapes {
  static final ModelSizes DENSE = shape(40, 5120, 40, 17408, Experts.NONE, 2);
  static final ModelSizes MIXTURE = shape(32, 4096, 32, 14336, new Experts(8, 2, 0, 0, 0, 0), 2);
  static final ModelSizes INTERLEAVED =
      shape(48, 5120, 40, 8192, new Experts(16, 1, 4096, 1024, 1, 0), 1);

  private Shapes() {}

  private static ModelSizes shape(
      int layers, int hidden, int heads, int size, Experts experts, double weightBytes) {
    return new ModelSizes(
        layers,
        hidden,
        new Attention(heads, 8, 0, 0),
        new FeedForward(size, 0, experts),
        new Vocabulary(32_000, 2, 0),
        new Precision(2, weightBytes));
  }

  /** A row of a step: so many tokens after so many, of a prompt of some length. */
  record Row(int tokens, int computed, int prompt) {
    boolean prefill() {
      return computed < prompt;
    }
  }

  static List<Row> rows(RandomGenerator random) {
    var rows = new ArrayList<Row>();
    for (int i = random.nextInt(4); i > 0; i--) {
      int prompt = 1 + random.nextInt(4_000);
      int computed = random.nextBoolean() ? 0 : random.nextInt(prompt);
      rows.add(new Row(1 + random.nextInt(prompt - computed), computed, prompt));
    }
    for (int i = random.nextInt(200); i > 0 || rows.isEmpty(); i--) {
      int prompt = 1 + random.nextInt(4_000);
      rows.add(new Row(1, prompt + random.nextInt(1_000), prompt));
    }
    return rows;
  }

  static StepShape step(List<Row> rows) {
    var prefills = new ArrayList<Prefill>();
    int decodes = 0;
    long context = 0;
    for (var row : rows) {
      if (row.prefill()) {
        prefills.add(new Prefill(row.tokens, row.computed, row.prompt));
      } else {
        decodes++;
        context += row.computed;
      }
    }
    return new StepShape(prefills, decodes, context);
  }
}
