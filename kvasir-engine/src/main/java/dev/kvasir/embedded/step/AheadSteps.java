package dev.kvasir.embedded.step;

import static java.lang.System.Logger.Level.DEBUG;
import static java.lang.System.Logger.Level.ERROR;

import dev.kvasir.Nullable;
import dev.kvasir.engine.Batch;
import dev.kvasir.engine.ModelBackend;
import dev.kvasir.engine.ModelBackend.StepResult.Sampled;
import dev.kvasir.engine.Sequence;
import dev.kvasir.model.ModelShape;
import dev.kvasir.model.StepRow;
import dev.kvasir.model.sample.Sampler;
import dev.kvasir.model.sample.SamplingSettings;
import dev.kvasir.model.sample.TokenChoice;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;

/**
 * Steps of a device that never waits for the engine: it has the next step before it is done with
 * one.
 *
 * <pre>
 *   device   │ step 1 ............│ step 2 ............│ step 3 ....
 *   loop     launch 2             │ "1 has landed", "2 is launched"; plan and launch 3
 * </pre>
 *
 * <p>The engine is told that a step is launched when the one before it has ended: what it plans
 * then runs behind the step that still runs, and whatever that writes is written by then. Tokens
 * reach the answers when their step lands. An answer that turns out to have stopped has had one row
 * too many, which nobody reads. A step in which the host must choose a token is awaited.
 */
public final class AheadSteps implements AnswerSteps {
  private static final System.Logger LOG = System.getLogger(AheadSteps.class.getName());

  /** When the next step is launched. */
  public enum Launching {
    /** When one has ended, and its tokens are known: the device waits meanwhile. */
    AWAITED,
    /** While one still runs. */
    AHEAD
  }

  private final LaunchedModel model;
  private final Launching launching;
  private final StepThread thread;
  private final ExecutorService waiter;
  private final WatchedLoop loop;
  private final Consumer<StepTime> times;
  private final Runnable lost;
  private final Sampler sampler;
  private final Generations answers = new Generations();

  /** Whom to tell that no step is on its way. */
  private final List<Runnable> landing = new ArrayList<>();

  private @Nullable Flight newest;

  /** True if somebody waited for more when the last step had ended. */
  private boolean isWaitedFor;

  private long computingNanos;
  private long idleNanos;

  /** A step on its way. */
  private static final class Flight {
    final Batch batch;
    final List<AnswerStep> turns;
    final Map<Generation, Integer> samples = new HashMap<>();
    final Consumer<ModelBackend.StepResult> done;

    /** True if the engine gives the next one when it has ended itself. */
    boolean awaited;

    /** True if the host chooses a token of this step. */
    boolean hosted;

    /**
     * True if somebody waited for this step when the one before had ended, so that the device was
     * to run on.
     */
    boolean follows;

    boolean over;

    /** The step on its way whose tokens it is fed with; null where it knows its own. */
    @Nullable Flight feeding;

    /** True if it was not launched; known to the thread that launches. */
    boolean unlaunched;

    @Nullable Flight next;

    Flight(Batch batch, List<AnswerStep> turns, Consumer<ModelBackend.StepResult> done) {
      this.batch = batch;
      this.turns = turns;
      this.done = done;
    }
  }

  /** Result of a step that has ended. */
  @SuppressWarnings("ArrayRecordComponent")
  private record Landing(
      int[] tokens, List<float[]> logits, long nanos, long idleNanos, @Nullable String failure) {}

  /**
   * Steps of one engine.
   *
   * @param thread launches, in turn with other engines of the model
   * @param waiter waits for steps, one after the other
   * @param times hears on the loop how long each step took
   * @param lost is run on the loop when the device is lost, once for each step that was
   */
  public AheadSteps(
      LaunchedModel model,
      Launching launching,
      StepThread thread,
      ExecutorService waiter,
      WatchedLoop loop,
      Consumer<StepTime> times,
      Runnable lost) {
    this.model = model;
    this.launching = launching;
    this.thread = thread;
    this.waiter = waiter;
    this.loop = loop;
    this.times = times;
    this.lost = lost;
    this.sampler = new Sampler(model.vocabulary());
  }

  @Override
  public Generations answers() {
    return answers;
  }

  /** Runs it when no step is on its way; on the loop. */
  public void whenLanded(Runnable then) {
    if (newest == null) then.run();
    else landing.add(then);
  }

  @Override
  public void forward(Batch batch, Consumer<ModelBackend.StepResult> done) {
    var turns = new ArrayList<AnswerStep>(batch.parts().size() + batch.decodes());
    var before = newest;
    for (var part : batch.parts()) {
      turns.add(turn(before, part.sequence(), part.start(), part.tokens()));
    }
    for (var row : batch.rows()) turns.add(turn(before, row.sequence(), row.position(), 1));
    var flight = new Flight(batch, List.copyOf(turns), done);
    int samples = 0;
    for (var turn : flight.turns) {
      if (!turn.row().sampled()) continue;
      flight.samples.put(turn.generation(), samples++);
      turn.generation().launched();
      flight.hosted |= !model.chooses(sampling(turn));
    }
    flight.awaited = flight.hosted || launching == Launching.AWAITED;
    flight.follows = before != null || isWaitedFor;
    flight.feeding = isFed(flight) ? before : null;
    newest = flight;
    launch(flight);
    if (flight.awaited) return;
    if (before == null) loop.execute(() -> reportLaunched(flight));
    else before.next = flight;
  }

  private static boolean isFed(Flight flight) {
    for (var turn : flight.turns) {
      var tokens = turn.row().tokens();
      // The newest token is the one that may not be known yet.
      if (tokens[tokens.length - 1] < 0) return true;
    }
    return false;
  }

  private static SamplingSettings sampling(AnswerStep turn) {
    return turn.generation().request().sampling();
  }

  private AnswerStep turn(@Nullable Flight before, Sequence sequence, int start, int count) {
    var generation = answers.of(sequence);
    int end = start + count;
    int known = Math.min(end, generation.length());
    var tokens = new int[count];
    var some = generation.tokens(start, known);
    System.arraycopy(some, 0, tokens, 0, some.length);
    for (int i = known; i < end; i++) tokens[i - start] = ~sample(before, generation, i);
    var slots = Generations.slots(sequence.blocks(), ModelShape.blocks(end));
    boolean sampled = end == generation.lengthAhead();
    return new AnswerStep(generation, new StepRow(tokens, start, slots, sampled));
  }

  /** Returns the sample of the step before that brings the token at the position. */
  private static int sample(@Nullable Flight before, Generation generation, int position) {
    var index = before == null ? null : before.samples.get(generation);
    if (index == null || position != generation.length()) {
      throw new IllegalStateException(
          generation + " has " + generation.length() + " tokens, none on its way at " + position);
    }
    return index;
  }

  private void launch(Flight flight) {
    thread.turn(
        System.nanoTime(),
        _ -> {
          try {
            requireFeed(flight);
            var rows = flight.turns.stream().map(AnswerStep::row).toList();
            var launch =
                model.launch(rows, flight.turns.stream().map(AheadSteps::sampling).toList());
            // Steps land in their order, and logits are read before another step is launched.
            var landed = CompletableFuture.runAsync(() -> await(flight, launch), waiter);
            if (flight.hosted) landed.join();
          } catch (IOException | RuntimeException | Error failure) {
            flight.unlaunched = true;
            failInTurn(flight, failure);
          }
        });
  }

  /** Input of a step may be anything if the step before it did not run. */
  private static void requireFeed(Flight flight) throws IOException {
    var feeding = flight.feeding;
    flight.feeding = null;
    if (feeding != null && feeding.unlaunched) {
      throw new IOException("the step before it was not launched");
    }
  }

  /** A step that could not be launched fails behind those that are on their way. */
  private void failInTurn(Flight flight, Throwable failure) {
    try {
      waiter.execute(() -> fail(flight, failure));
    } catch (RejectedExecutionException closed) {
      fail(flight, failure);
    }
  }

  private static Landing broken(Throwable failure) {
    return new Landing(new int[0], List.of(), 0, 0, "the model failed: " + failure);
  }

  private void await(Flight flight, LaunchedModel.Launch launch) {
    try {
      launch.await();
      var tokens = new int[flight.samples.size()];
      for (int i = 0; i < tokens.length; i++) tokens[i] = launch.token(i);
      var logits = new ArrayList<float[]>();
      if (flight.hosted) for (int i = 0; i < tokens.length; i++) logits.add(launch.logits(i));
      var ended = new Landing(tokens, logits, launch.nanos(), launch.idleNanos(), null);
      post(() -> land(flight, ended));
    } catch (IOException | RuntimeException | Error failure) {
      fail(flight, failure);
    }
  }

  private void fail(Flight flight, Throwable failure) {
    LOG.log(ERROR, "a step of " + flight.turns.size() + " sequences failed", failure);
    post(
        () -> {
          // Who hears that an answer failed may ask again at once, and must not come too early.
          if (failure instanceof DeviceLost) lost.run();
          land(flight, broken(failure));
        });
  }

  /** Runs a task on the loop, unless that is closed: then nobody is left to hear of it. */
  private void post(Runnable task) {
    try {
      loop.execute(task);
    } catch (RejectedExecutionException closed) {
      LOG.log(DEBUG, "a step ended after its engine", closed);
    }
  }

  /** On the loop: the engine hears what came of the step, and that the next one is launched. */
  private void land(Flight flight, Landing landing) {
    if (flight.over) return;
    flight.over = true;
    if (newest == flight) newest = null;
    var reason = landing.failure;
    var result = reason == null ? landed(flight, landing) : failed(flight, reason);
    // An awaited step is followed at once where the engine still has something to compute.
    isWaitedFor = answers.size() > 0;
    flight.done.accept(result);
    var next = flight.next;
    if (next != null) reportLaunched(next);
    isWaitedFor = answers.size() > 0;
    if (newest == null) {
      var waiting = List.copyOf(this.landing);
      this.landing.clear();
      waiting.forEach(Runnable::run);
    }
  }

  private ModelBackend.StepResult landed(Flight flight, Landing landing) {
    reportTime(flight, landing);
    var sampled = new ArrayList<Sampled>(flight.samples.size());
    var stopped = new ArrayList<Sequence>();
    int sample = 0;
    for (var turn : flight.turns) {
      if (!turn.row().sampled()) continue;
      var generation = turn.generation();
      int at = sample++;
      generation.landed();
      if (generation.isOver()) continue;
      var choice = choice(turn, landing, at);
      if (generation.add(choice)) stopped.add(generation.sequence());
      sampled.add(new Sampled(generation.sequence(), choice.token()));
    }
    return new ModelBackend.StepResult.Landed(sampled, stopped, List.of());
  }

  private static ModelBackend.StepResult failed(Flight flight, String reason) {
    for (var turn : flight.turns) if (turn.row().sampled()) turn.generation().landed();
    return new ModelBackend.StepResult.Failed(reason);
  }

  private void reportTime(Flight flight, Landing landing) {
    long idle = flight.follows ? landing.idleNanos : 0;
    computingNanos += landing.nanos;
    idleNanos += idle;
    times.accept(StepTime.of(flight.batch, landing.nanos, idle));
  }

  @Override
  public Optional<DeviceTime> deviceTime() {
    return Optional.of(new DeviceTime(computingNanos, idleNanos));
  }

  private TokenChoice choice(AnswerStep turn, Landing landing, int sample) {
    var settings = sampling(turn);
    if (model.chooses(settings)) return new TokenChoice(landing.tokens[sample], 0, List.of());
    var generation = turn.generation();
    return sampler.choose(
        landing.logits.get(sample), settings, generation.history(), generation.length());
  }

  private static void reportLaunched(Flight flight) {
    if (!flight.over) flight.done.accept(ModelBackend.StepResult.LAUNCHED);
  }
}
