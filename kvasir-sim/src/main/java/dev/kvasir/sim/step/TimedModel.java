package dev.kvasir.sim.step;

import dev.kvasir.Nullable;
import dev.kvasir.engine.Batch;
import dev.kvasir.engine.ModelBackend;
import dev.kvasir.engine.Sequence;
import dev.kvasir.engine.SequenceListener;
import dev.kvasir.sim.latency.LatencyModel;
import dev.kvasir.sim.latency.StepShape;
import dev.kvasir.sim.result.Gaps;
import dev.kvasir.sim.server.StepPipeline;
import dev.kvasir.time.EventLoop;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/** A model that computes nothing and takes its time for it. */
public final class TimedModel implements ModelBackend {
  private final EventLoop loop;
  private final LatencyModel latency;
  private final LongSupplier extraMicros;
  private final StepQueue turns;
  private final @Nullable StepPipeline pipeline;
  private final TokenTimes tokens;
  private final Runnable stepEnd = this::stepEnd;
  private @Nullable Consumer<ModelBackend.StepResult> waiting;
  private boolean isOpen;
  private long endNanos;
  private long busyMicros;
  private long prefillTokens;

  /**
   * A model on a loop.
   *
   * @param extraMicros asked once for each step: what it takes on top
   */
  public TimedModel(EventLoop loop, LatencyModel latency, LongSupplier extraMicros) {
    this(loop, latency, extraMicros, new StepQueue(), null);
  }

  /**
   * A model whose steps are computed in turn with those of others.
   *
   * @param pipeline runs the steps where one is launched while another is computed; else null
   */
  public TimedModel(
      EventLoop loop,
      LatencyModel latency,
      LongSupplier extraMicros,
      StepQueue turns,
      @Nullable StepPipeline pipeline) {
    this.loop = loop;
    this.pipeline = pipeline;
    this.turns = turns;
    this.latency = latency;
    this.extraMicros = extraMicros;
    this.tokens = new TokenTimes(latency.outputTokenMicros());
    if (pipeline != null) pipeline.setSentListener(tokens::sent);
  }

  @Override
  public void forward(Batch batch, Consumer<ModelBackend.StepResult> done) {
    if (pipeline != null) {
      tokens.launched(batch, loop.nanos());
      long elapsed = pipeline.run(shape(batch), () -> done.accept(StepResult.UNSEEN));
      busyMicros += elapsed / 1000;
      return;
    }
    long micros = stepMicros(batch) + extraMicros.getAsLong();
    busyMicros += micros;
    // Once: on a real clock a thread that waits for a processor between two readings lost the step.
    long now = loop.nanos();
    long nanos = turns.add(now, Math.multiplyExact(micros, 1000L)) - now;
    close();
    tokens.launched(batch, now);
    isOpen = true;
    endNanos = now + nanos;
    waiting = done;
    loop.afterNanos(nanos, stepEnd);
  }

  /** The tokens of the last step came with its end; nobody hears more of it. */
  private void close() {
    if (isOpen) tokens.sent(endNanos, 0);
    isOpen = false;
  }

  private void stepEnd() {
    var done = waiting;
    if (done == null) throw new IllegalStateException("a step ends, and nobody waits for it");
    waiting = null;
    done.accept(ModelBackend.StepResult.UNSEEN);
  }

  private long stepMicros(Batch batch) {
    if (batch.parts().isEmpty()) {
      return latency.decodeMicros(batch.decodes(), batch.decodeContextTokens());
    }
    return latency.stepMicros(shape(batch));
  }

  private StepShape shape(Batch batch) {
    var prefills = new StepShape.Prefill[batch.parts().size()];
    for (int i = 0; i < prefills.length; i++) prefills[i] = prefill(batch.parts().get(i));
    return new StepShape(List.of(prefills), batch.decodes(), batch.decodeContextTokens());
  }

  private StepShape.Prefill prefill(Batch.Part part) {
    prefillTokens += part.tokens();
    int end = part.start() + part.tokens();
    // What a preempted request had said is part of its prompt now.
    int prompt = Math.max(part.sequence().request().promptTokens(), end);
    return new StepShape.Prefill(part.tokens(), part.start(), prompt);
  }

  /** Returns a listener that counts the times of the tokens of a sequence. */
  public SequenceListener observe(SequenceListener listener) {
    return tokens.observe(listener);
  }

  /** Does it when the token of the sequence of the step that is done now has left the server. */
  public void whenSent(Sequence sequence, TokenTimes.Which token, Runnable task) {
    if (pipeline == null) {
      task.run();
      return;
    }
    tokens.waits(sequence, token);
    pipeline.whenSent(task);
  }

  /** Returns how often each time between two tokens occurred. */
  public Gaps gaps() {
    close();
    return tokens.gaps();
  }

  /** Returns how long the model computed. */
  public long busyMicros() {
    return busyMicros;
  }

  public long prefillTokens() {
    return prefillTokens;
  }
}
