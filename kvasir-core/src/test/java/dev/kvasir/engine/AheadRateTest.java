package dev.kvasir.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.engine.CountingKv.Reports;
import dev.kvasir.time.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Test;

/**
 * Tests how much work planning ahead leaves between the steps, with a full batch and callers who
 * keep coming.
 */
class AheadRateTest {
  private static final int BATCH = 256;
  private static final int OUTPUT_MEAN = 200;
  private static final double LOAD = 0.98;
  private static final Duration STEP = Duration.ofMillis(10);
  private static final int STEPS_MIN = 2_000;

  /** An engine whose callers come by chance, and whose outputs mostly end by surprise. */
  private static final class Busy implements SequenceListener {
    private final RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(7);
    private final VirtualLoop loop = new VirtualLoop();
    private final Map<Sequence, Integer> stops = new HashMap<>();
    private final CountingKv memory;
    private final Engine engine;
    private int ids;
    private long matchesDuringStep;
    private long matchesBetween;

    Busy(PlanningSettings planning) {
      this(planning, Reports.CHANGES);
    }

    Busy(PlanningSettings planning, Reports reports) {
      this.memory = new CountingKv(TestMemory.of(100_000).kv(), reports);
      var settings =
          EngineSettings.of(
                  BATCH, 2048, 0, 0, SchedulingPolicy.FIRST_COME, EngineSettings.Victim.NEWEST)
              .with(planning);
      this.engine = new Engine(loop, memory, this::forward, settings);
      expect();
    }

    Engine.Load run() {
      while (engine.load().steps() < STEPS_MIN) loop.step();
      return engine.load();
    }

    private void expect() {
      double perNano = LOAD * BATCH / OUTPUT_MEAN / STEP.toNanos();
      loop.after(Duration.ofNanos((long) exponential(1 / perNano)), this::arrive);
    }

    private void arrive() {
      int length = 1 + (int) exponential(OUTPUT_MEAN);
      boolean surprising = random.nextInt(10) < 7;
      int id = ids++;
      var names = new TestNames(id % 5, 8, 8L * id);
      var request =
          new SequenceRequest("s" + id, names, 64, surprising ? 4_000 : length, 0, loop.nanos());
      var sequence = engine.submit(request, this);
      if (surprising) stops.put(sequence, 64 + length - 1);
      assertThat(engine.load().blocks()).isPositive();
      expect();
    }

    private double exponential(double mean) {
      return -StrictMath.log(1 - random.nextDouble()) * mean;
    }

    private void forward(Batch batch, Consumer<ModelBackend.StepResult> done) {
      matchesBetween += memory.drainMatches();
      var stopped = new ArrayList<Sequence>();
      for (var row : batch.rows()) {
        var stop = stops.get(row.sequence());
        if (stop != null && row.position() >= stop) stopped.add(row.sequence());
      }
      var result = new ModelBackend.StepResult.Landed(List.of(), stopped, List.of());
      loop.after(STEP, () -> end(result, done));
    }

    private void end(ModelBackend.StepResult result, Consumer<ModelBackend.StepResult> done) {
      matchesDuringStep += memory.drainMatches();
      done.accept(result);
    }

    @Override
    public void admitted(Sequence sequence) {}

    @Override
    public void preempted(Sequence sequence) {}

    @Override
    public void prefilled(Sequence sequence) {}

    @Override
    public void ended(Sequence sequence, Sequence.End end) {
      stops.remove(sequence);
    }
  }

  private static final long LOOK_NANOS = 50_000;

  @Test
  void repairedPlansServeAlmostEveryStepAndTheSeedsRuleFewOfThem() {
    var repair = new Busy(PlanningSettings.of(PlanningSettings.Mode.REPAIR)).run();
    var discard = new Busy(PlanningSettings.of(PlanningSettings.Mode.DISCARD)).run();
    System.out.printf(
        "AheadRateTest repair %.2f %% %s, discard %.2f %% %s%n",
        100 * repair.planning().aheadRate(),
        repair.planning(),
        100 * discard.planning().aheadRate(),
        discard.planning());
    assertThat(repair.planning().aheadRate()).isGreaterThanOrEqualTo(0.99);
    assertThat(discard.planning().aheadRate()).isLessThan(0.2);
  }

  @Test
  void whoJoinsWasMostlyLookedUpBesideTheStepBefore() {
    var repair = new Busy(PlanningSettings.of(PlanningSettings.Mode.REPAIR));
    var after = new Busy(PlanningSettings.of(PlanningSettings.Mode.SEQUENTIAL));
    repair.run();
    after.run();
    System.out.printf(
        "AheadRateTest look-ups between the steps: repair %d (beside them %d), sequential %d%n",
        repair.matchesBetween, repair.matchesDuringStep, after.matchesBetween);
    assertThat(after.matchesBetween).isGreaterThan(STEPS_MIN);
    assertThat(repair.matchesBetween).isLessThan(after.matchesBetween / 10);
  }

  @Test
  void whatPlanningCostsIsHiddenBehindTheStepsIfItIsDoneAhead() {
    var repair =
        new Busy(new PlanningSettings(PlanningSettings.Mode.REPAIR, LOOK_NANOS)).run().planning();
    var after = sequential();
    System.out.printf("AheadRateTest with costs: repair %s, sequential %s%n", repair, after);
    assertThat(after.exposedNanos()).isEqualTo(after.planningNanos());
    assertThat(repair.exposedNanos()).isLessThan(after.exposedNanos() / 2);
    assertThat(repair.aheadRate()).isGreaterThanOrEqualTo(0.95);
  }

  @Test
  void nothingIsHiddenWhereTheWorkIsDoneAgainBetweenTheSteps() {
    var planning = new PlanningSettings(PlanningSettings.Mode.REPAIR, LOOK_NANOS);
    var repair = new Busy(planning, Reports.NOTHING).run().planning();
    var after = sequential();
    System.out.printf("AheadRateTest nothing kept: repair %s, sequential %s%n", repair, after);
    assertThat(repair.exposedNanos()).isGreaterThan(after.exposedNanos() * 9 / 10);
  }

  private static PlanningSettings.Stats sequential() {
    return new Busy(new PlanningSettings(PlanningSettings.Mode.SEQUENTIAL, LOOK_NANOS))
        .run()
        .planning();
  }
}
