package dev.kvasir.bench;

import dev.kvasir.engine.Batch;
import dev.kvasir.engine.Engine;
import dev.kvasir.engine.EngineSettings;
import dev.kvasir.engine.PlanningMode;
import dev.kvasir.engine.PlanningSettings;
import dev.kvasir.engine.PlanningStats;
import dev.kvasir.engine.Sequence;
import dev.kvasir.engine.SequenceEnd;
import dev.kvasir.engine.SequenceListener;
import dev.kvasir.engine.SequenceRequest;
import dev.kvasir.engine.StepResult;
import dev.kvasir.kv.BlockHash;
import dev.kvasir.kv.BlockNames;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.KvEvents;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PooledKv;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.Tier;
import dev.kvasir.kv.TokenBlock;
import dev.kvasir.live.LiveLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/**
 * What planning costs between two executions, in every mode, on a backend that only sleeps: 256
 * sequences run, outputs end by surprise after 200 tokens in the mean, and others wait.
 */
public final class PlanningBench {
  private static final int RUNNING = 256;
  private static final int OUTPUT_MEAN = 200;
  private static final int PROMPT_TOKENS = 256;
  private static final int BLOCK_TOKENS = 16;
  private static final int BLOCKS = 1 << 17;
  private static final Duration SLEEP = Duration.ofMillis(1);
  private static final int[] WAITING = {0, 1_000, 10_000};
  private static final int ROUNDS_USUAL = 5;
  private static final int STEPS_USUAL = 600;

  private PlanningBench() {}

  public static void main(String[] args) throws Exception {
    int rounds = args.length > 0 ? Integer.parseInt(args[0]) : ROUNDS_USUAL;
    int steps = args.length > 1 ? Integer.parseInt(args[1]) : STEPS_USUAL;
    System.out.printf(
        "%-10s %8s %10s %10s %8s %8s %8s %8s%n",
        "mode", "waiting", "p50 us", "mean us", "of best", "hits", "repairs", "misses");
    for (int waiting : WAITING) print(waiting, measure(waiting, rounds, steps));
  }

  /** All modes in turns, so that what else the machine does meets all of them. */
  private static Map<PlanningMode, Gaps> measure(int waiting, int rounds, int steps)
      throws Exception {
    var found = new EnumMap<PlanningMode, Gaps>(PlanningMode.class);
    for (var mode : PlanningMode.values()) found.put(mode, new Gaps());
    for (int round = -1; round < rounds; round++) {
      for (var entry : found.entrySet()) {
        try (var run = new Run(entry.getKey(), waiting, steps)) {
          var gaps = run.gaps();
          // The first round warms up.
          if (round >= 0) entry.getValue().add(gaps);
        }
      }
    }
    return found;
  }

  private static void print(int waiting, Map<PlanningMode, Gaps> found) {
    double best = Double.MAX_VALUE;
    for (var gaps : found.values()) best = Math.min(best, gaps.micros(0.5));
    for (var entry : found.entrySet()) {
      var gaps = entry.getValue();
      System.out.printf(
          Locale.ROOT,
          "%-10s %8d %10.2f %10.2f %8.3f %8d %8d %8d%n",
          entry.getKey().name().toLowerCase(Locale.ROOT),
          waiting,
          gaps.micros(0.5),
          gaps.meanMicros(),
          gaps.micros(0.5) / best,
          gaps.planning.hits(),
          gaps.planning.repairs(),
          gaps.planning.misses());
    }
  }

  /** The times between the end of one execution and the beginning of the next. */
  private static final class Gaps {
    private long[] nanos = {};
    private PlanningStats planning = PlanningStats.NONE;

    void add(Gaps more) {
      int before = nanos.length;
      nanos = Arrays.copyOf(nanos, before + more.nanos.length);
      System.arraycopy(more.nanos, 0, nanos, before, more.nanos.length);
      planning = planning.plus(more.planning);
    }

    double micros(double quantile) {
      var sorted = nanos.clone();
      Arrays.sort(sorted);
      return sorted[(int) (quantile * (sorted.length - 1))] / 1e3;
    }

    double meanMicros() {
      return Arrays.stream(nanos).average().orElse(0) / 1e3;
    }
  }

  /** Names that nobody shares. */
  private record OwnNames(long id) implements BlockNames {
    @Override
    public BlockHash name(int index) {
      return new BlockHash(id, index, 0, 1);
    }

    @Override
    public TokenBlock block(int index) {
      return TokenBlock.named(name(index), index == 0 ? null : name(index - 1), index);
    }
  }

  /** One engine at work. */
  private static final class Run implements AutoCloseable, SequenceListener {
    private final RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(7);
    private final LiveLoop loop = new LiveLoop("planning bench");
    private final ExecutorService device = Executors.newSingleThreadExecutor();
    private final CompletableFuture<Gaps> ended = new CompletableFuture<>();
    private final Engine engine;
    private final int waiting;
    private final long[] nanos;
    private int count;
    private long idleSince;
    private long ids;
    private boolean over;

    Run(PlanningMode mode, int waiting, int steps) {
      this.waiting = waiting;
      this.nanos = new long[steps];
      var settings = PoolSettings.of(Tier.DEVICE, BLOCKS, BLOCK_TOKENS);
      var kv = new PooledKv(new BlockPool(settings, new PrefixRegistry(), new KvEvents()));
      this.engine =
          new Engine(
              loop,
              kv,
              this::forward,
              EngineSettings.DEFAULT.with(PlanningSettings.of(mode)),
              System::nanoTime);
    }

    Gaps gaps() throws Exception {
      loop.execute(
          () -> {
            for (int i = 0; i < RUNNING + waiting; i++) submit();
          });
      return ended.get();
    }

    private void submit() {
      long id = ids++;
      engine.submit(
          new SequenceRequest(
              "r" + id, new OwnNames(id), PROMPT_TOKENS, 8 * OUTPUT_MEAN, 0, loop.nanos()),
          this);
    }

    private void forward(Batch batch, Consumer<StepResult> done) {
      boolean full = batch.decodes() > RUNNING * 9 / 10;
      if (full && idleSince != 0 && count < nanos.length) {
        nanos[count++] = System.nanoTime() - idleSince;
      }
      if (count == nanos.length) {
        end();
        return;
      }
      var stopped = new ArrayList<Sequence>();
      for (var row : batch.rows()) {
        if (random.nextInt(OUTPUT_MEAN) == 0) stopped.add(row.sequence());
      }
      var result = new StepResult(List.of(), stopped, List.of());
      device.execute(() -> sleep(result, done));
    }

    private void sleep(StepResult result, Consumer<StepResult> done) {
      try {
        Thread.sleep(SLEEP);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      long now = System.nanoTime();
      loop.execute(
          () -> {
            idleSince = now;
            done.accept(result);
          });
    }

    private void end() {
      if (over) return;
      over = true;
      var gaps = new Gaps();
      gaps.nanos = nanos;
      gaps.planning = engine.load().planning();
      ended.complete(gaps);
    }

    @Override
    public void close() {
      device.shutdownNow();
      loop.close();
    }

    @Override
    public void admitted(Sequence sequence) {}

    @Override
    public void preempted(Sequence sequence) {}

    @Override
    public void prefilled(Sequence sequence) {}

    /** Whoever ends is followed by another, so that as many wait as before. */
    @Override
    public void ended(Sequence sequence, SequenceEnd end) {
      if (!over) submit();
    }
  }
}
