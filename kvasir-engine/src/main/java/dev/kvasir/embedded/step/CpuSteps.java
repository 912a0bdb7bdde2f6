package dev.kvasir.embedded.step;

import dev.kvasir.embedded.step.StepOutcome.Broken;
import dev.kvasir.embedded.step.StepOutcome.Chosen;
import dev.kvasir.engine.Batch;
import dev.kvasir.model.CpuModel;
import dev.kvasir.model.KvMemory;
import dev.kvasir.model.StepRow;
import dev.kvasir.model.sample.Sampler;
import dev.kvasir.model.sample.TokenChoice;
import dev.kvasir.time.EventLoop;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** Computes the steps of one engine on the processor, in the engine's own memory. */
public final class CpuSteps implements StepRunner {
  private static final System.Logger LOG = System.getLogger(CpuSteps.class.getName());
  private static final float[] UNSEEN = {};

  private final EventLoop loop;
  private final StepThread thread;
  private final CpuModel model;
  private final KvMemory memory;
  private final Sampler sampler;
  private final Consumer<StepTime> times;
  private final List<float[]> logits = new ArrayList<>();
  private long overNanos;

  /**
   * Steps that run on that thread, in turn with those of others who share the model.
   *
   * @param times hears on the loop how long each of them took
   */
  public CpuSteps(
      EventLoop loop,
      StepThread thread,
      CpuModel model,
      KvMemory memory,
      Consumer<StepTime> times) {
    this.loop = loop;
    this.thread = thread;
    this.model = model;
    this.memory = memory;
    this.times = times;
    this.sampler = new Sampler(model.shape().vocabulary());
  }

  @Override
  public void run(Batch batch, List<AnswerStep> turns, Consumer<StepOutcome> done) {
    thread.turn(
        requestedNanos(batch),
        begunNanos -> {
          var outcome = compute(turns);
          loop.execute(
              () -> {
                overNanos = System.nanoTime();
                times.accept(StepTime.of(batch, overNanos - begunNanos));
                done.accept(outcome);
              });
        });
  }

  /**
   * Returns when the step was requested. A sequence that decodes was in the step before, too: since
   * then there was only planning and reporting, which an answer waits for as it does for the step
   * itself.
   */
  private long requestedNanos(Batch batch) {
    return batch.decodes() > 0 ? overNanos : System.nanoTime();
  }

  private StepOutcome compute(List<AnswerStep> turns) {
    try {
      return new Chosen(choices(turns));
    } catch (RuntimeException | Error e) {
      LOG.log(Level.ERROR, "a step of " + turns.size() + " sequences failed", e);
      return new Broken("the model failed: " + e);
    }
  }

  private List<Optional<TokenChoice>> choices(List<AnswerStep> turns) {
    var rows = new ArrayList<StepRow>(turns.size());
    var wanted = new float[turns.size()][];
    for (int i = 0; i < turns.size(); i++) {
      rows.add(turns.get(i).row());
      wanted[i] = rows.get(i).sampled() ? logits(i) : UNSEEN;
    }
    model.forward(rows, memory, wanted);
    var choices = new ArrayList<Optional<TokenChoice>>(turns.size());
    for (int i = 0; i < turns.size(); i++) {
      choices.add(rows.get(i).sampled() ? Optional.of(choice(turns.get(i), wanted[i])) : none());
    }
    return choices;
  }

  private TokenChoice choice(AnswerStep turn, float[] logits) {
    var generation = turn.generation();
    return sampler.choose(
        logits,
        generation.request().sampling(),
        generation.history(),
        turn.row().firstPosition() + turn.row().tokens().length);
  }

  private static Optional<TokenChoice> none() {
    return Optional.empty();
  }

  /** Room that is used again in the next step; there are never more rows than sequences. */
  private float[] logits(int row) {
    while (logits.size() <= row) logits.add(new float[model.shape().vocabulary()]);
    return logits.get(row);
  }
}
