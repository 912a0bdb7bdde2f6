package dev.kvasir.embedded;

import dev.kvasir.offload.TieredKvCache;
import dev.kvasir.offload.pipeline.OffloadPipeline;
import dev.kvasir.offload.state.EdgeState;
import dev.kvasir.offload.state.OnboardingState;
import dev.kvasir.offload.state.TierState;
import dev.kvasir.offload.state.TieredCacheState;
import dev.kvasir.tiers.TierMemory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** The state of the memory of embedded engines; asked on any thread that may wait. */
public record EmbeddedCacheState(EngineGroup group) implements Supplier<TieredCacheState> {
  @Override
  public TieredCacheState get() {
    var answer = new CompletableFuture<TieredCacheState>();
    group.loop().execute(() -> answer.complete(state()));
    return answer.join();
  }

  private TieredCacheState state() {
    var tiers = new ArrayList<TierState>();
    var edges = new ArrayList<EdgeState>();
    var onboardings = new ArrayList<OnboardingState>();
    long blockBytes = group.model().device().blockBytes();
    for (var engine : group.engines()) {
      var name = "device " + engine.name();
      tiers.add(TierMemory.tier(name, engine.memory(), blockBytes));
      if (engine.kv() instanceof TieredKvCache tieredCache) {
        edges.add(edge(name, "host", tieredCache.edges().getFirst()));
        onboardings.add(new OnboardingState(engine.name(), tieredCache.onboardings()));
      }
    }
    var shared = group.tiers();
    if (shared == null)
      return new TieredCacheState(tiers, edges, onboardings, List.of(), List.of());
    var memory = new TierMemory(shared, blockBytes, "");
    tiers.addAll(memory.tiers());
    edges.addAll(memory.edges());
    return new TieredCacheState(tiers, edges, onboardings, shared.stores(), shared.unavailable());
  }

  private static EdgeState edge(String from, String to, OffloadPipeline pipeline) {
    return new EdgeState(from, to, pipeline.load(), pipeline.totals());
  }
}
