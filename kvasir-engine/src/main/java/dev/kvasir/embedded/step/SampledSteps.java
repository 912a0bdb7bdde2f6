package dev.kvasir.embedded.step;

import dev.kvasir.engine.Batch;
import dev.kvasir.engine.ModelBackend;
import dev.kvasir.engine.ModelBackend.StepResult.Sampled;
import dev.kvasir.engine.Sequence;
import dev.kvasir.model.ModelShape;
import dev.kvasir.model.StepRow;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Turns an engine's batches into rows for a model, and what the model chose into answers. */
public final class SampledSteps implements AnswerSteps {
  private final StepRunner runner;
  private final WatchedLoop loop;
  private final Generations answers = new Generations();

  public SampledSteps(StepRunner runner, WatchedLoop loop) {
    this.runner = runner;
    this.loop = loop;
  }

  @Override
  public Generations answers() {
    return answers;
  }

  @Override
  public void forward(Batch batch, Consumer<ModelBackend.StepResult> done) {
    var turns = new ArrayList<AnswerStep>(batch.parts().size() + batch.decodes());
    for (var part : batch.parts()) turns.add(turn(part.sequence(), part.start(), part.tokens()));
    for (var row : batch.rows()) turns.add(turn(row.sequence(), row.position(), 1));
    runner.run(batch, turns, outcome -> loop.run(() -> done.accept(result(turns, outcome))));
  }

  private AnswerStep turn(Sequence sequence, int start, int count) {
    var generation = answers.of(sequence);
    int end = start + count;
    var row =
        new StepRow(
            generation.tokens(start, end),
            start,
            Generations.slots(sequence.blocks(), ModelShape.blocks(end)),
            end == generation.length());
    return new AnswerStep(generation, row);
  }

  private static ModelBackend.StepResult result(List<AnswerStep> turns, StepOutcome outcome) {
    return switch (outcome) {
      case StepOutcome.Broken(String reason) -> new ModelBackend.StepResult.Failed(reason);
      case StepOutcome.Chosen chosen -> stepResult(turns, chosen);
    };
  }

  private static ModelBackend.StepResult stepResult(
      List<AnswerStep> turns, StepOutcome.Chosen chosen) {
    var sampled = new ArrayList<Sampled>(turns.size());
    var stopped = new ArrayList<Sequence>();
    for (int i = 0; i < turns.size(); i++) {
      var choice = chosen.choices().get(i);
      if (choice.isEmpty()) continue;
      var generation = turns.get(i).generation();
      var sequence = generation.sequence();
      if (generation.add(choice.get())) stopped.add(sequence);
      sampled.add(new Sampled(sequence, choice.get().token()));
    }
    return new ModelBackend.StepResult.Landed(sampled, stopped, List.of());
  }
}
