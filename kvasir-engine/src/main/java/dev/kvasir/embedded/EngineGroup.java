package dev.kvasir.embedded;

import static java.lang.System.Logger.Level.ERROR;
import static java.lang.System.Logger.Level.WARNING;

import dev.kvasir.Nullable;
import dev.kvasir.embedded.step.StepThread;
import dev.kvasir.embedded.step.StepTime;
import dev.kvasir.engine.Engine;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PooledKv;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.ResettableKv;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.evict.Eviction;
import dev.kvasir.kv.evict.FrequencySketch;
import dev.kvasir.kv.name.BlockHasher;
import dev.kvasir.model.CpuModel;
import dev.kvasir.model.ModelShape;
import dev.kvasir.net.LiveLoop;
import dev.kvasir.net.Network;
import dev.kvasir.net.OwnedResources;
import dev.kvasir.tiers.LearnedTables;
import dev.kvasir.tiers.SharedTierLookup;
import dev.kvasir.tiers.SharedTiers;
import dev.kvasir.time.EventLoop;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.zip.CRC32C;

/**
 * Engines that share one model, one loop and the tiers below their own memory.
 *
 * <p>Their steps take turns on the model, which uses all of its threads for each. What one of them
 * has computed and sent down, the others bring up instead of computing it.
 */
public final class EngineGroup implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(EngineGroup.class.getName());

  /**
   * Delay of the warm-up, so that callers who ask at once are answered before it takes a processor.
   */
  private static final Duration WARM_UP_DELAY = Duration.ofSeconds(1);

  private static final int WARM_UP_DELAYS_MAX = 3;

  private final LoadedModel model;
  private final LiveLoop loop = new LiveLoop("kvasir-engines");
  private final StepThread thread = new StepThread();
  private final List<EmbeddedEngine> engines = new ArrayList<>();
  private final List<ModelDevice.Room> rooms = new ArrayList<>();
  private final @Nullable SharedTiers tiers;
  private final OwnedResources owned = new OwnedResources();
  private LearnedTables tables = LearnedTables.siblingOf(null);
  private final CacheResets resets;
  private Consumer<StepTime> times = _ -> {};
  private @Nullable WarmUp warmUp;
  private boolean restarting;
  private Runnable givenUp = () -> {};

  private EngineGroup(LoadedModel model, EngineGroupSettings settings) throws IOException {
    this.model = model;
    try {
      boolean shares = settings.tieredCache().hasHost();
      this.tiers = shares ? owned.add(openTiers(loop, model, settings)) : null;
      if (tiers != null) tables = tiers.tables();
      this.resets = new CacheResets(loop, tiers);
      resets.open();
      for (int i = 0; i < settings.engines(); i++) engines.add(engine(i, settings));
      engines.forEach(resets::add);
      tables.keep(loop);
    } catch (IOException | RuntimeException e) {
      close();
      throw e;
    }
  }

  /** Makes the engines; the model stays the caller's, who closes it after them. */
  public static EngineGroup open(LoadedModel model, EngineGroupSettings settings)
      throws IOException {
    return new EngineGroup(model, settings);
  }

  /** Takes the memory and opens the folder, which may take a while. */
  private static SharedTiers openTiers(
      EventLoop loop, LoadedModel model, EngineGroupSettings settings) {
    var layout = new CRC32C();
    layout.update(model.device().fingerprint().getBytes(StandardCharsets.UTF_8));
    var blocks =
        new SharedTiers.Blocks(
            model.device().blockBytes(),
            ModelShape.BLOCK_TOKENS,
            layout.getValue(),
            (long) settings.engines() * settings.deviceBlocks(),
            settings.eviction(),
            settings.limits(),
            SharedTiers.ServerNames.WITH_PLACE);
    return new SharedTiers(loop, settings.tieredCache(), blocks, settings.diskFolder());
  }

  private EmbeddedEngine engine(int number, EngineGroupSettings settings) throws IOException {
    var name = "engine-" + number;
    var uses = new FrequencySketch(settings.deviceBlocks());
    boolean counted = settings.eviction().equals(Eviction.COUNTS_USES);
    var alone = counted ? new PrefixRegistry(uses) : new PrefixRegistry();
    var registry = tiers == null ? alone : tiers.registry();
    var limited = settings.limits().on(Eviction.named(settings.eviction(), uses), loop::nanos);
    var order = tiers == null ? limited : tiers.order();
    var pool = PoolSettings.of(Tier.DEVICE, settings.deviceBlocks(), ModelShape.BLOCK_TOKENS);
    var events = new KvEvents();
    var top = new BlockPool(pool.with(order), registry, events);
    tables.add(name, top);
    var room = room(name, settings);
    ResettableKv kv =
        tiers == null ? new PooledKv(top) : tiers.tieredCache(registry, top, room.down());
    var shared = tiers == null ? null : tiers.host();
    var look = tiers == null ? SharedTierLookup.NONE : tiers.look();
    var parts =
        new EmbeddedEngine.Parts(name, loop, model.served(), kv, top, shared, look, events, resets);
    return new EmbeddedEngine(parts, room::steps, settings.engine());
  }

  private ModelDevice.Room room(String name, EngineGroupSettings settings) throws IOException {
    var wanted =
        new ModelDevice.Wanted(
            name,
            settings.deviceBlocks(),
            settings.engine().planning().mode(),
            loop,
            thread,
            tiers,
            this::stepped,
            this::lost);
    var room = owned.add(model.device().room(wanted));
    rooms.add(room);
    return room;
  }

  /** Has answers computed plainly, until {@link #warmUp} was asked for and is over. */
  public void beginPlainly() {
    if (!(model.device() instanceof CpuDevice(CpuModel cpu))) return;
    var prepared = owned.add(new WarmUp(cpu));
    warmUp = prepared;
    cpu.computePlainly(prepared::start);
  }

  /** Has all compiled that makes answers quicker, when nobody waits for one or in seconds. */
  public void warmUp() {
    var prepared = warmUp;
    if (prepared != null) loop.execute(() -> later(prepared, WARM_UP_DELAYS_MAX));
  }

  private void later(WarmUp prepared, int delays) {
    loop.after(
        WARM_UP_DELAY,
        () -> {
          boolean busy = engines.stream().anyMatch(engine -> engine.answering() > 0);
          if (busy && delays > 1) later(prepared, delays - 1);
          else prepared.start();
        });
  }

  /** Reports the time of each step from now on, on the loop. */
  public void reportSteps(Consumer<StepTime> listener) {
    loop.execute(() -> times = listener);
  }

  /** Runs it on the loop when a device is lost that this process cannot start again. */
  public void whenGivenUp(Runnable then) {
    loop.execute(() -> givenUp = then);
  }

  private void stepped(StepTime time) {
    times.accept(time);
  }

  /**
   * On the loop: the device has lost all that was in it. Whoever waits hears so, and it is started
   * anew when nothing of it is in use any more.
   */
  private void lost() {
    if (restarting) return;
    restarting = true;
    LOG.log(ERROR, "{0} is lost: answers under way fail, and it is started again", model.device());
    engines.forEach(EmbeddedEngine::suspend);
    settled(() -> Thread.ofPlatform().name("kvasir-restart").daemon(true).start(this::restart));
  }

  private void restart() {
    try {
      model.device().restart();
    } catch (IOException | RuntimeException failure) {
      LOG.log(ERROR, "the engines stay out of order until the process is started again", failure);
      loop.execute(() -> givenUp.run());
      return;
    }
    loop.execute(
        () -> {
          restarting = false;
          LOG.log(WARNING, "{0} was started again", model.device());
          engines.forEach(EmbeddedEngine::restore);
        });
  }

  public LiveLoop loop() {
    return loop;
  }

  public LoadedModel model() {
    return model;
  }

  /** Returns what tokenises prompts as the engines do. */
  public PromptTokens prompts(Network network) {
    return new PromptTokens(network, model.served());
  }

  /** Returns what names blocks of a prompt as the engines do, for a caller of this salt. */
  public BlockHasher hasher(String salt) {
    return resets.hasher(model.served(), PromptTokens.salt("", salt));
  }

  public List<EmbeddedEngine> engines() {
    return List.copyOf(engines);
  }

  /** Returns the tiers below the engines' own memory; null if there are none. */
  public @Nullable SharedTiers tiers() {
    return tiers;
  }

  /** Resets the caches of all engines and tiers, also of other servers that share them. */
  public void reset(Consumer<ResetReport> done) {
    loop.execute(() -> resets.reset(done));
  }

  /** Refuses what is new, finishes what is under way, and waits for that no longer than said. */
  public boolean drain(Duration longest) {
    var drained = new CountDownLatch(1);
    loop.execute(() -> drain(drained::countDown));
    try {
      return drained.await(longest.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Engines first: what they still compute is sent down, and only then can that have ended. */
  private void drain(Runnable done) {
    var left = new AtomicInteger(engines.size());
    for (var engine : engines) {
      engine.pause(
          Engine.PauseMode.WAIT,
          () -> {
            if (left.decrementAndGet() > 0) return;
            settled(done);
          });
    }
  }

  /** Runs it when no step and no copy is on its way. */
  private void settled(Runnable then) {
    landed(
        0,
        () -> {
          if (tiers == null) then.run();
          else tiers.whenSettled(then);
        });
  }

  /** Runs it when no step of any engine is on its way: the last tokens come with them. */
  private void landed(int first, Runnable then) {
    if (first == rooms.size()) then.run();
    else rooms.get(first).whenSettled(() -> landed(first + 1, then));
  }

  /** Ends it all at once; who waits for an answer hears nothing more. */
  @Override
  public void close() {
    thread.close();
    loop.close();
    // Nobody changes what was learnt any more.
    tables.save();
    owned.close();
  }
}
