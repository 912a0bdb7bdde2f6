package dev.kvasir.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Seeds;
import dev.kvasir.kv.Block;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.KvStore;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.offload.TieredKvCache;
import dev.kvasir.offload.onboard.LowerTier;
import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.offload.store.TierStore;
import dev.kvasir.time.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/** Nobody waits for ever for room on the way up, and being cached costs a bounded wait at most. */
class FetchFairnessTest {
  private static final int BLOCK_TOKENS = 16;
  private static final int OVERTAKEN_MAX = 64;
  private static final Duration STEP = Duration.ofMillis(5);
  private static final Duration NEVER = Duration.ofDays(1);
  private static final Duration STALL = Duration.ofSeconds(20);

  /** A host tier that takes so long for each block, for all transfers at once, and may stall. */
  private static final class ParallelStore implements TierStore {
    private final VirtualLoop loop;
    private final Duration perBlock;
    private boolean stalls;

    ParallelStore(VirtualLoop loop, Duration perBlock) {
      this.loop = loop;
      this.perBlock = perBlock;
    }

    @Override
    public void store(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
      answer(copies, done);
    }

    @Override
    public void load(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
      answer(copies, done);
    }

    private void answer(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
      var time = stalls ? STALL : perBlock.multipliedBy(copies.size());
      loop.after(time, () -> done.accept(Collections.nCopies(copies.size(), CopyOutcome.COPIED)));
    }
  }

  /** An engine over a memory and a host tier, and who overtook whom on the way to be served. */
  private static final class Served implements SequenceListener {
    private final VirtualLoop loop = new VirtualLoop();
    private final ParallelStore store = new ParallelStore(loop, Duration.ofMillis(1));
    private final BlockPool host;
    private final KvStore kv;
    private final Engine engine;
    private final List<Sequence> waiting = new ArrayList<>();
    private final TreeMap<String, Integer> overtaken = new TreeMap<>();
    private final TreeMap<String, Duration> waited = new TreeMap<>();
    private int ended;

    Served(int blocks, int hostBlocks, EngineSettings settings) {
      var registry = new PrefixRegistry();
      var top = pool(Tier.DEVICE, blocks, registry);
      this.host = pool(Tier.HOST, hostBlocks, registry);
      this.kv = new TieredKvCache(loop, registry, top, List.of(LowerTier.of(host, store)));
      this.engine = new Engine(loop, kv, this::forward, settings);
    }

    private static BlockPool pool(Tier tier, int blocks, PrefixRegistry registry) {
      var settings = PoolSettings.of(tier, blocks, BLOCK_TOKENS);
      return new BlockPool(settings, registry, new KvEvents());
    }

    private void forward(Batch batch, Consumer<ModelBackend.StepResult> done) {
      loop.after(STEP, () -> done.accept(ModelBackend.StepResult.UNSEEN));
    }

    /** The family's blocks lie on the host, and only there. */
    void putOnHost(int family, int blocks) {
      var names = new TestNames(family, blocks, 0);
      var held = new ArrayList<Block.Registered>();
      var room = host.allocate(blocks).orElseThrow();
      for (int i = 0; i < blocks; i++) held.add(room.get(i).receive(names.block(i)));
      host.release(held);
    }

    Sequence submit(String id, int family, int blocks, int output) {
      var names = new TestNames(family, blocks, loop.nanos() + family);
      int prompt = blocks * BLOCK_TOKENS + 3;
      var request = new SequenceRequest(id, names, prompt, output, 0, loop.nanos());
      var sequence = engine.submit(request, this);
      if (sequence.state() != Sequence.State.ENDED) waiting.add(sequence);
      return sequence;
    }

    void run(Duration time) {
      long end = loop.nanos() + time.toNanos();
      while (loop.nextNanos() <= end) {
        loop.step();
        note();
      }
      loop.runUntil(end);
    }

    /** Counts, for each sequence that still waits, those behind it that wait no more. */
    private void note() {
      int before = 0;
      for (int i = 0; i < waiting.size(); i++) {
        var sequence = waiting.get(i);
        if (sequence.state() == Sequence.State.WAITING && sequence.span == null) {
          waiting.set(before++, sequence);
          continue;
        }
        for (int j = 0; j < before; j++) {
          overtaken.merge(waiting.get(j).request().id(), 1, Integer::sum);
        }
      }
      waiting.subList(before, waiting.size()).clear();
    }

    @Override
    public void admitted(Sequence sequence) {
      var request = sequence.request();
      waited.put(request.id(), Duration.ofNanos(loop.nanos() - request.arrivalNanos()));
    }

    /** Returns how long that one waited who waited longest, but for the long one. */
    Duration longestOfOthers() {
      var others = new TreeMap<>(waited);
      others.remove("long");
      return others.values().stream().max(Duration::compareTo).orElse(NEVER);
    }

    @Override
    public void preempted(Sequence sequence) {}

    @Override
    public void prefilled(Sequence sequence) {}

    @Override
    public void ended(Sequence sequence, Sequence.End end) {
      ended++;
    }
  }

  private static final int SHORT = 150;
  private static final Duration BETWEEN = Duration.ofMillis(35);

  /** Submits short prefixes of the host one after the other, until that one has joined. */
  private static Duration waitsAmongShortOnes(Served served, Sequence sequence) {
    long from = served.loop.nanos();
    for (int i = 0; i < 1_000; i++) {
      served.run(BETWEEN);
      if (sequence.rank >= 0 || sequence.state() == Sequence.State.ENDED) break;
      submitShort(served, i);
    }
    return Duration.ofNanos(served.loop.nanos() - from);
  }

  private static Served withShortOnesUnderWay(int memory) {
    var served = new Served(memory, 10_000, EngineSettings.of(256, 8_192));
    for (int i = 0; i < 6; i++) {
      submitShort(served, -i);
      served.run(BETWEEN);
    }
    return served;
  }

  /** One whose prefix nobody else has. */
  private static void submitShort(Served served, int number) {
    served.putOnHost(2_000 + number, SHORT);
    served.submit("short" + number, 2_000 + number, SHORT, 2);
  }

  @Test
  void aLongPrefixIsBroughtUpAlthoughShorterOnesKeepComing() {
    var served = withShortOnesUnderWay(2_048);
    served.putOnHost(1_000, 900);
    var waited = waitsAmongShortOnes(served, served.submit("long", 1_000, 900, 2));
    assertThat(waited).isLessThan(Duration.ofSeconds(2));
    assertThat(served.overtaken.getOrDefault("long", 0)).isLessThanOrEqualTo(8);
    assertThat(served.kv.hits()).isGreaterThan(900);
  }

  @Test
  void aPrefixThatIsMoreThanMayComeUpAtOnceJoinsAmongShorterOnesToo() {
    var served = withShortOnesUnderWay(2_048);
    served.putOnHost(1_000, 1_500);
    var waited = waitsAmongShortOnes(served, served.submit("long", 1_000, 1_500, 2));
    assertThat(waited).isLessThan(Duration.ofSeconds(3));
    assertThat(served.overtaken.getOrDefault("long", 0)).isLessThanOrEqualTo(8);
  }

  private static final int LONG_BLOCKS = 14_400 / BLOCK_TOKENS;
  private static final int SHORT_BLOCKS = 1_600 / BLOCK_TOKENS;

  /** Submits a prefix of 14,400 tokens amid 29 s of prefixes of 1,600 tokens of the host. */
  private static Served amidSteadyTraffic(Where where) {
    var served = new Served(2_048, 90_000, EngineSettings.of(256, 8_192));
    int count = (int) Duration.ofSeconds(29).dividedBy(BETWEEN);
    for (int i = 0; i < count; i++) {
      if (i == 6) {
        if (where == Where.ON_HOST) served.putOnHost(1_000, LONG_BLOCKS);
        served.submit("long", 1_000, LONG_BLOCKS, 2);
      }
      served.putOnHost(2_000 + i, SHORT_BLOCKS);
      served.submit("short" + i, 2_000 + i, SHORT_BLOCKS, 2);
      served.run(BETWEEN);
    }
    System.out.printf(
        "FetchFairnessTest %s: 14,400 tokens waited %s ms, overtaken by %d; the others %s ms%n",
        where,
        served.waited.getOrDefault("long", NEVER).toMillis(),
        served.overtaken.getOrDefault("long", 0),
        served.longestOfOthers().toMillis());
    return served;
  }

  /** The place of the blocks of the long prefix. */
  private enum Where {
    ON_HOST,
    NOWHERE
  }

  @Test
  void aPrefixOfHalfTheMemoryComesUpAmidSteadyTrafficOfShortOnes() {
    var served = amidSteadyTraffic(Where.ON_HOST);
    // Its blocks take 0.9 s to come up when nothing else does.
    assertThat(served.waited.getOrDefault("long", NEVER)).isLessThan(Duration.ofMillis(1_500));
    assertThat(served.overtaken.getOrDefault("long", 0)).isLessThanOrEqualTo(8);
    assertThat(served.longestOfOthers()).isLessThan(Duration.ofMillis(1_500));
    var uncached = amidSteadyTraffic(Where.NOWHERE);
    assertThat(uncached.waited.get("long")).isLessThanOrEqualTo(STEP);
  }

  @Test
  void whatFindsNoRoomBecauseTheTierStandsStillIsComputedInTheEnd() {
    var served = withShortOnesUnderWay(2_048);
    served.putOnHost(1_000, 900);
    served.store.stalls = true;
    for (int i = 0; i < 3; i++) submitShort(served, i);
    served.run(BETWEEN);
    var sequence = served.submit("long", 1_000, 950, 2);
    for (int i = 0; i < 200 && sequence.rank < 0; i++) {
      served.submit("uncached" + i, 5_000 + i, 3, 2);
      served.run(Duration.ofMillis(10));
    }
    assertThat(sequence.state()).isNotEqualTo(Sequence.State.WAITING);
    assertThat(served.overtaken.get("long")).isEqualTo(OVERTAKEN_MAX);
  }

  @Test
  void nobodyIsOvertakenMoreOftenThanTheBoundWhateverTheSizes() {
    int[] most = {0};
    Seeds.each(
        12 * Seeds.scale(),
        random -> {
          var served = walk(random);
          for (int count : served.overtaken.values()) {
            assertThat(count).isLessThanOrEqualTo(OVERTAKEN_MAX);
            most[0] = Math.max(most[0], count);
          }
        });
    if (!Seeds.isReplay()) assertThat(most[0]).isEqualTo(OVERTAKEN_MAX);
  }

  /** Prefixes of 1 to 60 % of memory, on the host or nowhere, above a tier that stalls at times. */
  private static Served walk(RandomGenerator random) {
    int memory = 200 + random.nextInt(2_000);
    var served = new Served(memory, 60 * memory, EngineSettings.of(1 + random.nextInt(40), 8_192));
    int families = 60;
    var sizes = new int[families];
    for (int family = 0; family < families; family++) {
      int percent = random.nextInt(3) == 0 ? 1 + random.nextInt(60) : 1 + random.nextInt(5);
      sizes[family] = Math.max(1, memory * percent / 100);
      if (random.nextInt(4) > 0) served.putOnHost(family, sizes[family]);
    }
    int between = 1 + memory / 10 + random.nextInt(memory / 4);
    int count = 300;
    for (int i = 0; i < count; i++) {
      int family = random.nextInt(families);
      served.submit("s" + i, family, sizes[family], 1 + random.nextInt(20));
      served.store.stalls = random.nextInt(15) == 0;
      served.run(Duration.ofMillis(random.nextInt(2 * between)));
    }
    served.store.stalls = false;
    served.run(Duration.ofSeconds(600));
    assertThat(served.ended).isEqualTo(count);
    assertThat(served.engine.load().blocksUsed()).isZero();
    return served;
  }
}
