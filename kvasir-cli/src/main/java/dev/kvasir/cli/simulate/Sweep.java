package dev.kvasir.cli.simulate;

import dev.kvasir.sim.calibrate.Interval;
import dev.kvasir.sim.clock.ParallelTasks;
import dev.kvasir.sim.page.Shard;
import dev.kvasir.sim.report.BestPoint;
import dev.kvasir.sim.report.Comparison;
import dev.kvasir.spec.Written;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/**
 * Runs a grid of simulations, several at once.
 *
 * <p>Each run has its own of everything, and what comes out is in the order of the grid: how many
 * go on at once changes nothing but the time it takes.
 */
final class Sweep {
  private static final int BAR = 24;
  private static final long POLL_MILLIS = 200;

  private final Plan plan;
  private final SimulateOptions options;
  private final PrintWriter err;
  private final AtomicBoolean stopped = new AtomicBoolean();
  private final AtomicInteger done = new AtomicInteger();
  private final LinkedHashSet<String> messages = new LinkedHashSet<>();

  Sweep(Plan plan, SimulateOptions options, PrintWriter err) {
    this.plan = plan;
    this.options = options;
    this.err = err;
  }

  /** Point of a sweep, with the messages of its run. */
  private record PointResult(Comparison.Point point, String message) {}

  Comparison run() throws IOException {
    requireComparable();
    var grid = Dimension.grid(plan.dimensions());
    var comparison = comparison(points(grid));
    doubt(comparison, grid);
    return comparison;
  }

  /** Every {@code of}-th setting of the grid, from the {@code first} on. */
  Shard run(int first, int of) throws IOException {
    requireComparable();
    var grid = Dimension.grid(plan.dimensions());
    var places = new ArrayList<Integer>();
    for (int place = first; place < grid.size(); place += of) places.add(place);
    var points = points(places.stream().map(grid::get).toList());
    var targets = plan.deployment().slo();
    return new Shard(
        Shard.VERSION,
        plan.description(),
        grid.size(),
        plan.keys(),
        targets.targets(),
        targets.attainment(),
        places,
        points);
  }

  /** Runs with each of these settings; what they have to say is said once. */
  List<Comparison.Point> points(List<List<Written.Text>> settings) throws IOException {
    var runs = new ArrayList<Callable<PointResult>>();
    for (var values : settings) {
      plan.deployment(values);
      runs.add(() -> run(values));
    }
    if (runs.isEmpty()) return List.of();
    stopped.set(false);
    done.set(0);
    var results = all(runs, options.threads(runs.size()));
    for (var each : results) each.message().lines().filter(messages::add).forEach(err::println);
    return results.stream().map(PointResult::point).toList();
  }

  Comparison comparison(List<Comparison.Point> points) {
    var targets = plan.deployment().slo();
    return new Comparison(plan.keys(), points, targets.targets(), targets.attainment());
  }

  /**
   * Says so where the best and the one next to it cannot be told apart: under other times that the
   * profile's captures allow, now one and now the other has the sooner first tokens.
   */
  private void doubt(Comparison comparison, List<List<Written.Text>> grid) throws IOException {
    var points = comparison.points();
    if (points.size() < 2) return;
    int best = BestPoint.of(comparison).index();
    if (setup(grid.get(best)).profiles().isEmpty()) return;
    double here = points.get(best).summary().ttft().p90();
    int next = best == 0 ? 1 : 0;
    for (int i = 0; i < points.size(); i++) {
      double off = Math.abs(points.get(i).summary().ttft().p90() - here);
      double least = Math.abs(points.get(next).summary().ttft().p90() - here);
      if (i != best && off < least) next = i;
    }
    var ones = firstTokens(grid.get(best));
    var others = firstTokens(grid.get(next));
    long sooner = IntStream.range(0, ones.size()).filter(i -> ones.get(i) < others.get(i)).count();
    if (sooner == 0 || sooner == ones.size()) return;
    err.printf(
        "kvasir: %s and %s cannot be told apart by first tokens (p90): the first has the sooner"
            + " ones under %d of the %d other sets of times that the profile allows%n",
        comparison.name(points.get(best)), comparison.name(points.get(next)), sooner, ones.size());
  }

  private List<Double> firstTokens(List<Written.Text> values) throws IOException {
    return setup(values).others().stream().map(Interval.Figure.TTFT_P90::of).toList();
  }

  private Setup setup(List<Written.Text> values) {
    var silent = new PrintWriter(new StringWriter());
    return new Setup(plan, values, options, silent, ParallelTasks.ALONE);
  }

  void requireComparable() {
    if (options.cacheOnly) {
      throw new IllegalArgumentException("--cache-only gives one figure; omit --sweep");
    }
    if (options.requestsOut != null) {
      throw new IllegalArgumentException("--requests-out is for one run; omit --sweep");
    }
  }

  private PointResult run(List<Written.Text> values) throws IOException {
    var words = new StringWriter();
    var texts = values.stream().map(Written.Text::text).toList();
    try {
      var setup =
          new Setup(plan, values, options, new PrintWriter(words, true), ParallelTasks.ALONE);
      var result = setup.run(completed -> requireGoingOn());
      var summary = setup.summary(result);
      setup.warn(summary);
      var point = new Comparison.Point(texts, summary, setup.fleet(), setup.prices());
      done.incrementAndGet();
      return new PointResult(point, words.toString());
    } catch (IllegalArgumentException wrong) {
      throw new IllegalArgumentException(
          "with " + plan.keys() + " = " + texts + ": " + wrong.getMessage(), wrong);
    }
  }

  private void requireGoingOn() {
    if (stopped.get()) throw new CancellationException("another run of the sweep has failed");
  }

  /** Waits in the order of the grid, so that the first error reported is always the same. */
  private List<PointResult> all(List<Callable<PointResult>> runs, int threads) throws IOException {
    var results = new ArrayList<PointResult>();
    try (var workers = Executors.newFixedThreadPool(threads);
        var line = TerminalLine.on(err)) {
      var futures = new ArrayList<Future<PointResult>>();
      for (var run : runs) futures.add(workers.submit(run));
      try {
        for (var future : futures) results.add(await(future, line, runs.size()));
      } finally {
        stopped.set(true);
        workers.shutdownNow();
      }
    }
    return results;
  }

  private PointResult await(Future<PointResult> future, TerminalLine line, int runs)
      throws IOException {
    while (true) {
      try {
        return future.get(POLL_MILLIS, TimeUnit.MILLISECONDS);
      } catch (TimeoutException unfinished) {
        if (line.isDue()) line.write(bar(runs));
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
        throw new CancellationException("interrupted");
      } catch (ExecutionException failed) {
        throw cause(failed);
      }
    }
  }

  private static RuntimeException cause(ExecutionException failed) throws IOException {
    switch (failed.getCause()) {
      case RuntimeException mistake -> throw mistake;
      case IOException unreadable -> throw unreadable;
      case OutOfMemoryError full ->
          throw new IllegalArgumentException(
              "the runs need more memory than there is; use --threads 1, or give it more, as in"
                  + " KVASIR_JAVA_OPTS=-Xmx8g",
              full);
      case Error bug -> throw bug;
      case null, default -> throw new IllegalStateException(failed);
    }
  }

  private String bar(int runs) {
    int filled = BAR * done.get() / runs;
    return "["
        + "#".repeat(filled)
        + ".".repeat(BAR - filled)
        + "] "
        + done
        + " of "
        + runs
        + " runs";
  }
}
