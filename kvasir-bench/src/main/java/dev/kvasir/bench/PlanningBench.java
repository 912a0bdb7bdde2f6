package dev.kvasir.bench;

import dev.kvasir.engine.Batch;
import dev.kvasir.engine.Engine;
import dev.kvasir.engine.EngineSettings;
import dev.kvasir.engine.ModelBackend;
import dev.kvasir.engine.PlanningSettings;
import dev.kvasir.engine.Sequence;
import dev.kvasir.engine.SequenceListener;
import dev.kvasir.engine.SequenceRequest;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PooledKv;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.BlockNames;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.net.LiveLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
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
 * Measures the cost of planning between two executions, in every mode, on a backend that only takes
 * time: 256 sequences run, outputs end unexpectedly after 200 tokens in the mean, and others wait.
 * Prompts have 256 tokens of their own, behind nothing or behind a long prefix that many share.
 *
 * <p>A backend that sleeps has to be woken up, which takes longer than planning does where the
 * machine is small or busy; one that spins shows the planning alone. The modes take turns, and a
 * ratio is the median over the rounds of what two of them took in the same round.
 */
public final class PlanningBench {
  private static final int RUNNING = 256;
  private static final int OUTPUT_MEAN = 200;
  private static final int OWN_TOKENS = 256;
  private static final int FAMILIES = 8;
  private static final int[] PREFIX_TOKENS = {0, 32_768};
  private static final int BLOCK_TOKENS = 16;
  private static final int BLOCKS = 1 << 17;
  private static final Duration STEP = Duration.ofMillis(1);
  private static final int[] WAITING = {0, 1_000, 10_000};
  private static final int ROUNDS_USUAL = 5;
  private static final int STEPS_USUAL = 600;

  private PlanningBench() {}

  public static void main(String[] args) throws Exception {
    int rounds = args.length > 0 ? Integer.parseInt(args[0]) : ROUNDS_USUAL;
    int steps = args.length > 1 ? Integer.parseInt(args[1]) : STEPS_USUAL;
    for (var backend : Backend.values()) {
      System.out.printf("on a backend that %s%n", backend.name().toLowerCase(Locale.ROOT));
      System.out.printf(
          "%-10s %8s %8s %10s %10s %8s %8s %8s %8s%n",
          "mode", "prefix", "waiting", "p50 us", "mean us", "of best", "hits", "repairs", "misses");
      for (int prefix : PREFIX_TOKENS) {
        for (int waiting : WAITING) {
          print(prefix, waiting, measure(backend, prefix, waiting, rounds, steps));
        }
      }
    }
  }

  /** Ways in which a backend passes its time. */
  private enum Backend {
    SLEEPS,
    SPINS;

    void pass(Duration time) throws InterruptedException {
      if (this == SLEEPS) {
        Thread.sleep(time);
        return;
      }
      long begun = System.nanoTime();
      while (System.nanoTime() - begun < time.toNanos()) Thread.onSpinWait();
    }
  }

  /** All modes in turns, so that what else the machine does meets all of them. */
  private static Map<PlanningSettings.Mode, Gaps> measure(
      Backend backend, int prefix, int waiting, int rounds, int steps) throws Exception {
    var families = new ArrayList<BlockHash[]>();
    for (int i = 0; i < FAMILIES; i++) families.add(prefix(i, prefix / BLOCK_TOKENS));
    var found = new EnumMap<PlanningSettings.Mode, Gaps>(PlanningSettings.Mode.class);
    for (var mode : PlanningSettings.Mode.values()) found.put(mode, new Gaps());
    for (int round = -1; round < rounds; round++) {
      for (var entry : found.entrySet()) {
        try (var run = new Run(backend, entry.getKey(), families, waiting, steps)) {
          var measured = run.round();
          // The first round warms up.
          if (round >= 0) entry.getValue().add(measured);
        }
      }
    }
    return found;
  }

  private static BlockHash[] prefix(int family, int blocks) {
    var names = new BlockHash[blocks];
    for (int i = 0; i < blocks; i++) names[i] = new BlockHash(family, i, 0, 2);
    return names;
  }

  private static void print(int prefix, int waiting, Map<PlanningSettings.Mode, Gaps> found) {
    var best = Collections.min(found.values(), Comparator.comparingDouble(Gaps::micros));
    for (var entry : found.entrySet()) {
      var gaps = entry.getValue();
      System.out.printf(
          Locale.ROOT,
          "%-10s %8d %8d %10.2f %10.2f %8.3f %8d %8d %8d%n",
          entry.getKey().name().toLowerCase(Locale.ROOT),
          prefix,
          waiting,
          gaps.micros(),
          median(gaps.means),
          gaps.ratio(best),
          gaps.planning.hits(),
          gaps.planning.repairs(),
          gaps.planning.misses());
    }
  }

  private static double median(List<Double> numbers) {
    var sorted = numbers.stream().sorted().toList();
    return sorted.get(sorted.size() / 2);
  }

  /** The times between the end of one execution and the beginning of the next, by round. */
  private static final class Gaps {
    private final List<Double> medians = new ArrayList<>();
    private final List<Double> means = new ArrayList<>();
    private PlanningSettings.Stats planning = PlanningSettings.Stats.NONE;

    void add(Round round) {
      var sorted = round.nanos.clone();
      Arrays.sort(sorted);
      medians.add(sorted[sorted.length / 2] / 1e3);
      means.add(Arrays.stream(sorted).average().orElseThrow() / 1e3);
      planning = planning.plus(round.planning);
    }

    double micros() {
      return median(medians);
    }

    double ratio(Gaps other) {
      var ratios = new ArrayList<Double>();
      for (int i = 0; i < medians.size(); i++) ratios.add(medians.get(i) / other.medians.get(i));
      return median(ratios);
    }
  }

  /** Measurements of one engine. */
  @SuppressWarnings("ArrayRecordComponent")
  private record Round(long[] nanos, PlanningSettings.Stats planning) {}

  /** Names of a prefix, and behind it those that nobody shares. */
  @SuppressWarnings("ArrayRecordComponent")
  private record FamilyNames(BlockHash[] prefix, long id) implements BlockNames {
    @Override
    public BlockHash name(int index) {
      return index < prefix.length ? prefix[index] : new BlockHash(id, index, 0, 1);
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
    private final CompletableFuture<Round> ended = new CompletableFuture<>();
    private final Engine engine;
    private final Backend backend;
    private final List<BlockHash[]> families;
    private final int waiting;
    private final long[] nanos;
    private int count;
    private long idleSince;
    private long ids;
    private boolean over;

    Run(
        Backend backend,
        PlanningSettings.Mode mode,
        List<BlockHash[]> families,
        int waiting,
        int steps) {
      this.backend = backend;
      this.families = families;
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

    Round round() throws Exception {
      loop.execute(
          () -> {
            for (int i = 0; i < RUNNING + waiting; i++) submit();
          });
      return ended.get();
    }

    private void submit() {
      long id = ids++;
      var names = new FamilyNames(families.get((int) (id % FAMILIES)), id);
      int tokens = names.prefix.length * BLOCK_TOKENS + OWN_TOKENS;
      engine.submit(
          new SequenceRequest("r" + id, names, tokens, 8 * OUTPUT_MEAN, 0, loop.nanos()), this);
    }

    private void forward(Batch batch, Consumer<ModelBackend.StepResult> done) {
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
      var result = new ModelBackend.StepResult.Landed(List.of(), stopped, List.of());
      device.execute(() -> compute(result, done));
    }

    private void compute(ModelBackend.StepResult result, Consumer<ModelBackend.StepResult> done) {
      try {
        backend.pass(STEP);
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
      ended.complete(new Round(nanos, engine.load().planning()));
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

    /** Submits another sequence for each that ends, so that as many wait as before. */
    @Override
    public void ended(Sequence sequence, Sequence.End end) {
      if (!over) submit();
    }
  }
}
