package dev.kvasir.embedded;

import dev.kvasir.embedded.step.PacedSteps;
import dev.kvasir.embedded.step.SampledSteps;
import dev.kvasir.engine.EngineSettings;
import dev.kvasir.engine.ModelBackend;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.model.ModelShape;
import dev.kvasir.net.LiveLoop;
import dev.kvasir.offload.CommonTiers;
import dev.kvasir.offload.onboard.LowerTier;
import dev.kvasir.offload.onboard.OnboardingLimits;
import dev.kvasir.offload.store.TierStore;
import dev.kvasir.tiers.SharedTierLookup;
import dev.kvasir.time.EventLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * Engines without a model: each step takes the time that it would take with one.
 *
 * <p>Blocks are handed from one to another by way of memory that all share and that holds nothing.
 */
public final class PacedEngines implements AutoCloseable {
  /**
   * Parts that take the time.
   *
   * @param model forward passes of each engine
   * @param link way of each engine to the memory that all share
   */
  public record Pace(
      Function<EventLoop, ModelBackend> model, Function<EventLoop, TierStore> link) {}

  private final LiveLoop loop = new LiveLoop("kvasir-fleet");
  private final List<EmbeddedEngine> engines = new ArrayList<>();

  /** So many engines of so many blocks each, and as many for all of them to share. */
  public PacedEngines(
      ServedModel model, int count, int blocks, EngineSettings settings, Pace pace) {
    var registry = new PrefixRegistry();
    var shared = pool(Tier.HOST, Math.multiplyExact(count, blocks), registry, new KvEvents());
    var tiers = new CommonTiers(loop, registry, shared, List.of(), null);
    var resets = new CacheResets(loop, null);
    for (int i = 0; i < count; i++) {
      var own = new PrefixRegistry();
      var events = new KvEvents();
      var top = pool(Tier.DEVICE, blocks, own, events);
      var step = LowerTier.of(shared, pace.link().apply(loop));
      var kv = tiers.tieredCache(own, top, step, OnboardingLimits.DEFAULT);
      var steps = new PacedSteps(pace.model().apply(loop), model.tokenizer());
      var engine =
          new EmbeddedEngine(
              new EmbeddedEngine.Parts(
                  "worker-" + i,
                  loop,
                  model,
                  kv,
                  top,
                  shared,
                  SharedTierLookup.NONE,
                  events,
                  resets),
              watched -> new SampledSteps(steps, watched),
              settings);
      engines.add(engine);
      resets.add(engine);
    }
  }

  private static BlockPool pool(Tier tier, int blocks, PrefixRegistry registry, KvEvents events) {
    return new BlockPool(PoolSettings.of(tier, blocks, ModelShape.BLOCK_TOKENS), registry, events);
  }

  public List<EmbeddedEngine> engines() {
    return List.copyOf(engines);
  }

  public LiveLoop loop() {
    return loop;
  }

  @Override
  public void close() {
    loop.close();
  }
}
