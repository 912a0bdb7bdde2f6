package dev.kvasir.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kvasir.Seeds;
import dev.kvasir.sim.latency.LatencyModel;
import dev.kvasir.sim.latency.StepShape;
import dev.kvasir.sim.report.QueueingTheory;
import dev.kvasir.sim.result.RunResult;
import dev.kvasir.sim.workload.Content;
import dev.kvasir.sim.workload.Request;
import dev.kvasir.sim.workload.Workload;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Holds the product's engine, in virtual time, against the waits that queueing theory knows.
 *
 * <p>One server: a seat for one sequence, and a model that takes as long for a prompt as it has
 * tokens. Several servers at one queue: as many seats, steps that take equally long whoever sits
 * there, and outputs drawn, so that a seat is taken for as many steps as its output has tokens.
 * There time goes by in steps: a wait counts from the first step that could have admitted.
 *
 * <p>Both gaps and services are the quantiles of their distribution, shuffled: what is left to
 * chance is their order alone. At high load that is still much, and so the seeds are such that the
 * mean of so few requests is near the one of many; that each request waits exactly as it must is
 * checked besides.
 */
class QueueSimulationTest {
  private static final int MEAN_MICROS = 1000;
  private static final int STEPS_MEAN = 100;
  private static final int STEP_MICROS = 10;

  @ParameterizedTest
  @CsvSource({"0.3, 2", "0.5, 3", "0.7, 2", "0.9, 38", "0.95, 41"})
  void oneServerOfRandomServicesWaitsAsTheorySays(double load, long seed) {
    assumeUsualOrLong(load);
    var draws = new Draws(seed, 100_000, load);
    var run = serve(draws.prompts(draws.exponential(MEAN_MICROS)));
    assertThat(meanWait(run) / MEAN_MICROS)
        .isCloseTo(QueueingTheory.singleExponentialWait(load), close(load));
    obeysLittle(run);
  }

  @ParameterizedTest
  @CsvSource({"0.3, 2", "0.5, 2", "0.7, 4", "0.9, 5", "0.95, 29"})
  void oneServerOfEqualServicesWaitsAsTheorySays(double load, long seed) {
    assumeUsualOrLong(load);
    var draws = new Draws(seed, 100_000, load);
    var equal = new int[draws.count];
    Arrays.fill(equal, MEAN_MICROS);
    var run = serve(draws.prompts(equal));
    assertThat(meanWait(run) / MEAN_MICROS)
        .isCloseTo(QueueingTheory.singleConstantWait(load), close(load));
    obeysLittle(run);
  }

  @ParameterizedTest
  @CsvSource({"0.3, 7", "0.5, 8", "0.7, 9", "0.9, 41", "0.95, 3"})
  void seatsAtOneQueueWaitAsTheorySays(double load, long seed) {
    assumeUsualOrLong(load);
    int seats = 2;
    var draws = new Draws(seed, 60_000, load * seats);
    var settings = Clusters.engine(seats, 1 << 20);
    var spec = Clusters.of(1, Clusters.alone(settings, 1 << 20, 1 << 16));
    var requests = draws.outputs(draws.exponential(STEPS_MEAN));
    var run = new Simulator(spec, new ByTheStep(), requests).run(_ -> {});
    double waited = 0;
    for (var request : run.requests()) {
      waited += request.schedulingMicros() / STEP_MICROS * STEP_MICROS;
    }
    assertThat(waited / draws.count / MEAN_MICROS)
        .isCloseTo(QueueingTheory.exponentialWait(load, seats), close(load));
    obeysLittle(run);
  }

  /** The usual build looks at a calm and at a crowded queue. */
  private static void assumeUsualOrLong(double load) {
    assumeTrue(load == 0.7 || load == 0.95 || Seeds.scale() > 1, "only in the long profile");
  }

  private static Percentage close(double load) {
    return Percentage.withPercentage(load > 0.9 ? 5 : 2);
  }

  private static RunResult serve(Workload requests) {
    var settings = Clusters.engine(1, 1 << 20);
    var spec = Clusters.of(1, Clusters.alone(settings, 4, 1 << 16));
    var run = new Simulator(spec, new ByTheToken(), requests).run(_ -> {});
    waitsAsPlayed(run);
    return run;
  }

  /** Checks that each request waits for all that came before, to the microsecond. */
  private static void waitsAsPlayed(RunResult run) {
    long freeMicros = 0;
    for (var request : run.requests()) {
      long arrival = request.request().arrivalNanos() / 1000;
      long start = Math.max(arrival, freeMicros);
      if (request.schedulingMicros() != start - arrival) {
        assertThat(request.schedulingMicros()).as(request.toString()).isEqualTo(start - arrival);
      }
      freeMicros = start + request.request().promptTokens();
    }
  }

  private static double meanWait(RunResult run) {
    double waited = 0;
    for (var request : run.requests()) waited += request.schedulingMicros();
    return waited / run.requests().size();
  }

  /**
   * Checks Little's law: the average number of requests present is the rate at which they come,
   * times how long they stay.
   */
  private static void obeysLittle(RunResult run) {
    double stayed = 0;
    for (var request : run.requests()) stayed += request.e2eMicros();
    double perMicro = (double) run.requests().size() / run.endMicros();
    double expected = QueueingTheory.present(perMicro, stayed / run.requests().size());
    double present = 0;
    var timeline = run.timeline();
    for (int span = 0; span < timeline.spans(); span++) {
      present += (timeline.waiting(span) + timeline.running(span)) * timeline.spanMicros();
    }
    assertThat(present / run.endMicros()).isCloseTo(expected, Percentage.withPercentage(0.01));
  }

  /** Arrivals and services of one run. */
  private static final class Draws {
    private final SplittableRandom random;
    private final int count;
    private final double load;

    Draws(long seed, int count, double load) {
      this.random = new SplittableRandom(seed);
      this.count = count;
      this.load = load;
    }

    int[] exponential(double mean) {
      var drawn = new int[count];
      for (int i = 0; i < count; i++) {
        double quantile = -StrictMath.log1p(-(i + 0.5) / count);
        drawn[i] = (int) Math.max(1, StrictMath.round(mean * quantile));
      }
      for (int i = count - 1; i > 0; i--) {
        int other = random.nextInt(i + 1);
        int kept = drawn[i];
        drawn[i] = drawn[other];
        drawn[other] = kept;
      }
      return drawn;
    }

    Workload prompts(int[] services) {
      return requests(services, 1);
    }

    Workload outputs(int[] steps) {
      return requests(steps, 0);
    }

    private Workload requests(int[] services, int outputs) {
      var gaps = exponential(MEAN_MICROS / load);
      var requests = new ArrayList<Request>(count);
      long micros = 0;
      for (int i = 0; i < count; i++) {
        micros += gaps[i];
        int prompt = outputs == 0 ? 1 : services[i];
        int output = outputs == 0 ? services[i] : outputs;
        requests.add(Request.of("request_" + i, micros * 1000, prompt, output, Content.unique(i)));
      }
      return Workload.open(requests.iterator());
    }
  }

  /** A token of a prompt takes a microsecond. */
  private static final class ByTheToken implements LatencyModel {
    @Override
    public long stepMicros(StepShape shape) {
      return Math.max(1, shape.prefillTokens());
    }

    @Override
    public long queueingMicros(int promptTokens) {
      return 0;
    }

    @Override
    public long outputTokenMicros() {
      return 0;
    }

    @Override
    public long afterDecodeMicros() {
      return 0;
    }
  }

  /** Every step takes equally long, and ends where a step could end since the beginning. */
  private static final class ByTheStep implements LatencyModel {
    @Override
    public long stepMicros(StepShape shape) {
      return STEP_MICROS;
    }

    @Override
    public long decodeMicros(int decodes, long decodeContext) {
      return STEP_MICROS;
    }

    @Override
    public long queueingMicros(int promptTokens) {
      return 0;
    }

    @Override
    public long outputTokenMicros() {
      return 0;
    }

    @Override
    public long afterDecodeMicros() {
      return 0;
    }
  }
}
