package dev.kvasir.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Nullable;
import dev.kvasir.engine.EngineSettings.Victim;
import dev.kvasir.kv.event.KvEvent;
import dev.kvasir.kv.event.KvSubscription;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.offload.TieredKvCache;
import dev.kvasir.offload.store.FaultyTier;
import dev.kvasir.time.VirtualLoop;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.random.RandomGenerator;

/** An engine under random commands, looked at after every event. */
final class EngineWalk {
  /** Records what became of a sequence. */
  private final class Fate implements SequenceListener {
    private int admissions;
    private int preemptions;
    private int ends;

    @Override
    public void admitted(Sequence sequence) {
      admissions++;
      assertThat(ends).isZero();
    }

    @Override
    public void preempted(Sequence sequence) {
      preemptions++;
      assertThat(preemptions).isLessThanOrEqualTo(admissions);
      assertThat(ends).isZero();
      if (random.nextInt(8) == 0) engine.abort(sequences.get(random.nextInt(sequences.size())));
    }

    @Override
    public void prefilled(Sequence sequence) {
      assertThat(ends).isZero();
    }

    @Override
    public void sampled(Sequence sequence, int token) {
      assertThat(ends).isZero();
    }

    @Override
    public void ended(Sequence sequence, Sequence.End end) {
      ends++;
      assertThat(ends).isEqualTo(1);
    }
  }

  private static final long TASKS_MAX = 50_000;
  private static final int HOST_BLOCKS = 60;
  private static final int SEATS_MAX = 64;
  private static final int EVENTS_MAX = 10_000;

  private final RandomGenerator random;

  /** The factor by which prompts, memory and queue are larger than usual. */
  private final int size;

  private final VirtualLoop loop = new VirtualLoop();
  private final TestMemory memory;
  private final ChancyModel model;
  private final @Nullable LaunchingModel device;
  private final @Nullable FaultyTier host;
  private final KvSubscription stored;
  private final Engine engine;
  private final boolean tiered;
  private final List<Sequence> sequences = new ArrayList<>();
  private final List<Fate> fates = new ArrayList<>();
  private int pauses;
  private int pausesDone;

  /** When the engine is told that it may give the next step. */
  enum Steps {
    /** When one has landed. */
    AWAITED,
    /** When one is launched. */
    LAUNCHED
  }

  EngineWalk(RandomGenerator random, PlanningSettings planning, Steps steps) {
    this(random, planning, steps, 1);
  }

  /** A walk of prompts, memory and a queue that many times larger. */
  EngineWalk(RandomGenerator random, PlanningSettings planning, Steps steps, int size) {
    this.random = random;
    this.size = size;
    int hostBlocks = HOST_BLOCKS * size;
    int blocks = size * (8 + random.nextInt(40));
    this.tiered = random.nextInt(3) == 0;
    this.model = new ChancyModel(loop, random);
    if (steps == Steps.LAUNCHED) {
      device = new LaunchingModel(loop, random, blocks);
      host = new FaultyTier(loop, random, device.whole, new BlockHash[hostBlocks]);
      var store = device.behindSteps(host);
      memory = tiered ? TestMemory.tiered(loop, blocks, hostBlocks, store) : TestMemory.of(blocks);
    } else {
      device = null;
      host = null;
      memory = tiered ? TestMemory.tiered(loop, blocks, hostBlocks) : TestMemory.of(blocks);
    }
    this.stored = memory.events().subscribe(EVENTS_MAX * size, () -> {});
    var backend = device == null ? model : device;
    this.engine = new Engine(loop, memory.kv(), backend, settings(random, size).with(planning));
  }

  private static EngineSettings settings(RandomGenerator random, int size) {
    var orders = SchedulingPolicy.values();
    return EngineSettings.of(
            1 + random.nextInt(Math.min(12 * size, SEATS_MAX)),
            random.nextInt(4) == 0 ? size * (6 + random.nextInt(12)) : 64 * size,
            random.nextInt(3) == 0 ? size * (2 + random.nextInt(12)) : 0,
            0,
            orders[random.nextInt(orders.length)],
            random.nextInt(4) == 0 ? Victim.LEAST_URGENT : Victim.NEWEST)
        .with(
            random.nextBoolean()
                ? EngineSettings.Room.WHOLE_PROMPT
                : EngineSettings.Room.FIRST_CHUNK);
  }

  void run(int commands) {
    for (int i = 0; i < commands; i++) {
      command();
      check();
      advance(loop.nanos() + random.nextInt(4_000));
    }
  }

  private void command() {
    switch (random.nextInt(40)) {
      case 0 -> {
        pauses++;
        var modes = Engine.PauseMode.values();
        engine.pause(modes[random.nextInt(modes.length)], () -> pausesDone++);
      }
      case 1, 2, 3, 4 -> engine.resume();
      case 5 -> engine.resetCache(memory.kv()::clear, blocks -> assertThat(blocks).isNotNegative());
      case 6, 7, 8 -> {
        if (!sequences.isEmpty()) engine.abort(sequences.get(random.nextInt(sequences.size())));
      }
      case 9, 10 -> assertThat(engine.load().blocksUsed()).isNotNegative();
      default -> submit();
    }
  }

  private void submit() {
    int id = sequences.size();
    if (engine.load().waiting() > 20 * size) return;
    var fate = new Fate();
    int room = memory.pool().total() * TestMemory.BLOCK_TOKENS;
    int prompt = 1 + random.nextInt(Math.min(40 * size, room));
    int output = Math.min(1 + random.nextInt(30), room - prompt + 1);
    var names = new TestNames(random.nextInt(3), random.nextInt(8 * size), id);
    fates.add(fate);
    sequences.add(
        engine.submit(
            new SequenceRequest(
                "s" + id, names, prompt, output, random.nextInt(3), loop.nanos() + id),
            fate));
  }

  private void advance(long nanos) {
    while (loop.nextNanos() <= nanos) {
      loop.step();
      check();
    }
    loop.runUntil(nanos);
  }

  private void check() {
    memory.check();
    checkStored();
    var held = new BitSet();
    int running = 0;
    int waiting = 0;
    for (int i = 0; i < sequences.size(); i++) {
      var sequence = sequences.get(i);
      assertThat(fates.get(i).ends).isEqualTo(sequence.state() == Sequence.State.ENDED ? 1 : 0);
      switch (sequence.state()) {
        case RUNNING -> running++;
        case WAITING, FETCHING -> waiting++;
        case LANDING, ENDED -> assertThat(sequence.span).isNull();
      }
      if (sequence.span == null) continue;
      boolean reserved = sequence.state() == Sequence.State.WAITING && sequence.fetched;
      assertThat(reserved || sequence.state() == Sequence.State.RUNNING).isTrue();
      for (int block = 0; block < sequence.span.blocks(); block++) {
        held.set(sequence.span.slot(block));
      }
    }
    var load = engine.load();
    assertThat(load.running()).isEqualTo(running);
    assertThat(load.waiting()).isEqualTo(waiting);
    // A transfer to or from the tier below holds blocks of its own; so does a duplicate its first.
    // And what a step on its way fills is held by nobody who is still there.
    if (tiered || device != null)
      assertThat(memory.pool().held()).isGreaterThanOrEqualTo(held.cardinality());
    else assertThat(memory.pool().held() - held.cardinality()).isBetween(0, duplicates());
  }

  /** INV-12: what anybody can find was computed by a step that has landed. */
  private void checkStored() {
    for (var event = stored.poll(); event != null; event = stored.poll()) {
      if (device == null || !(event instanceof KvEvent.Stored(var tier, var block))) continue;
      assertThat(device.hasComputed(block.hash())).as("%s on %s", block, tier).isTrue();
    }
  }

  private int duplicates() {
    return (int) Math.min(Integer.MAX_VALUE, memory.pool().stats().duplicates());
  }

  /** Lets all that is left end in peace, and finds everything free. */
  Engine.Load drain() {
    model.calmDown();
    if (device != null) device.calmDown();
    if (host != null) host.heal();
    engine.resume();
    for (long tasks = 0; loop.step(); tasks++) {
      check();
      assertThat(tasks).as(this::picture).isLessThan(TASKS_MAX * size);
    }
    var load = engine.load();
    assertThat(load.waiting() + load.running()).as(() -> "left over at " + load).isZero();
    assertThat(memory.pool().held()).isZero();
    if (memory.kv() instanceof TieredKvCache cache) {
      for (var edge : cache.edges()) assertThat(edge.load().isEmpty()).isTrue();
    }
    assertThat(pausesDone).isEqualTo(pauses);
    var planning = load.planning();
    assertThat(planning.hits() + planning.repairs() + planning.misses()).isEqualTo(load.steps());
    return load;
  }

  private String picture() {
    int from = Math.max(0, model.steps.size() - 8);
    var left = sequences.stream().filter(each -> each.state() != Sequence.State.ENDED).toList();
    return "%s, tiered %s, left %s, last steps %s"
        .formatted(engine.load(), tiered, left, model.steps.subList(from, model.steps.size()));
  }

  /** Returns how many steps failed on a device that is given them ahead. */
  int failures() {
    return device == null ? 0 : device.failures();
  }

  /** The outcome of blocks that were on their way down when their step failed. */
  long cancelled() {
    if (!(memory.kv() instanceof TieredKvCache cache)) return 0;
    return cache.edges().stream().mapToLong(edge -> edge.totals().cancelled()).sum();
  }

  /** Returns what each step computed. */
  List<String> steps() {
    return model.steps;
  }
}
