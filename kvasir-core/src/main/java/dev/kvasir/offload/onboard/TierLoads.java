package dev.kvasir.offload.onboard;

import dev.kvasir.Nullable;
import dev.kvasir.kv.Block;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.offload.store.AnsweredCall;
import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.Callbacks;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.time.EventLoop;
import dev.kvasir.time.Timer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Loads from one tier into the one above it, for all tiered caches that have this edge.
 *
 * <p>A block is loaded once for all tiered caches that want it. The reserved blocks of the tier
 * above are counted here, so that several tiered caches together reserve no more than one may. If a
 * store does not answer a load in time, it fails for all that wait or ask for it, until the store
 * answers; its slots stay reserved, since the store may still write to them.
 */
public final class TierLoads {
  private final EventLoop loop;
  private final BlockPool above;
  private final LowerTier lower;
  private final Callbacks callbacks;

  /** The loads under way, by the blocks in them. */
  private final HashMap<BlockHash, Load> loading = new HashMap<>();

  private int reserved;

  TierLoads(EventLoop loop, BlockPool above, LowerTier lower) {
    this.loop = loop;
    this.above = above;
    this.lower = lower;
    this.callbacks = new Callbacks(loop);
  }

  /** One for each tier below the pool. */
  public static List<TierLoads> of(EventLoop loop, BlockPool top, List<LowerTier> lowerTiers) {
    var made = new ArrayList<TierLoads>();
    var above = top;
    for (var lower : lowerTiers) {
      made.add(new TierLoads(loop, above, lower));
      above = lower.pool();
    }
    return made;
  }

  /** Blocks of the tier above that loads under way are for. */
  int reserved() {
    return reserved;
  }

  /** How many more blocks can be loaded now. */
  int room(OnboardingLimits limits) {
    int unreserved = limits.reservedMax(above.total()) - reserved;
    return Math.max(0, Math.min(unreserved, above.available()));
  }

  boolean isLoading(BlockHash hash) {
    return loading.containsKey(hash);
  }

  /** Whether the block is being loaded and its store has not answered in time. */
  boolean isOverdue(BlockHash hash) {
    var load = loading.get(hash);
    return load != null && load.late;
  }

  /**
   * Loads the blocks in one transfer, as far as there is room; those that are being loaded already
   * are waited for. Each block learns the outcome from its cache.
   *
   * @return those that there is no room for
   */
  List<BlockOnboarding> load(List<BlockOnboarding> group, OnboardingLimits limits) {
    int room = room(limits);
    var fresh = new ArrayList<BlockOnboarding>();
    var left = new ArrayList<BlockOnboarding>();
    for (var onboarding : group) {
      var known = loading.get(onboarding.hash());
      if (known != null && !known.late) known.join(onboarding);
      else if (known == null && fresh.size() < room) fresh.add(onboarding);
      else left.add(onboarding);
    }
    if (!fresh.isEmpty()) begin(fresh, limits);
    return left;
  }

  private void begin(List<BlockOnboarding> onboardings, OnboardingLimits limits) {
    var targets = above.allocate(onboardings.size()).orElseThrow();
    new Load(onboardings, targets, limits).begin();
  }

  /** A group on its way: the slots on both sides are the store's until it answers. */
  private final class Load {
    private final Map<BlockHash, List<BlockOnboarding>> onboardings = new LinkedHashMap<>();
    private final List<Block.Empty> targets;
    private final OnboardingLoads beginner;
    private final Timer timer;
    private boolean late;
    private boolean answered;

    Load(List<BlockOnboarding> group, List<Block.Empty> targets, OnboardingLimits limits) {
      for (var onboarding : group) {
        onboardings.computeIfAbsent(onboarding.hash(), _ -> new ArrayList<>()).add(onboarding);
      }
      this.targets = targets;
      this.beginner = group.getFirst().tieredCache();
      this.timer = loop.after(limits.loadTimeout(), this::giveUp);
    }

    void begin() {
      reserved += targets.size();
      var copies = new ArrayList<BlockCopy>(targets.size());
      for (var same : onboardings.values()) {
        var held = same.getFirst().held();
        copies.add(new BlockCopy(held.content(), targets.get(copies.size()).id(), held.id()));
        loading.put(held.hash(), this);
      }
      AnsweredCall.make(loop, lower.store()::load, copies, this::answered);
    }

    void join(BlockOnboarding onboarding) {
      onboardings.computeIfAbsent(onboarding.hash(), _ -> new ArrayList<>()).add(onboarding);
    }

    private void giveUp() {
      late = true;
      beginner.timedOut();
      for (var same : onboardings.values()) {
        for (var onboarding : List.copyOf(same)) onboarding.tieredCache().giveUp(onboarding);
      }
    }

    private void answered(List<CopyOutcome> outcomes) {
      if (answered || outcomes.size() != targets.size()) {
        throw new IllegalStateException(
            outcomes.size() + " outcomes for " + targets.size() + " loads, answered " + answered);
      }
      answered = true;
      timer.cancel();
      reserved -= targets.size();
      for (var hash : onboardings.keySet()) loading.remove(hash);
      var arrived = new LinkedHashMap<OnboardingLoads, List<BlockOnboarding>>();
      var fallen = new ArrayList<BlockOnboarding>();
      int at = 0;
      for (var same : onboardings.values()) {
        if (arrive(same, targets.get(at), outcomes.get(at))) {
          for (var onboarding : same) {
            arrived
                .computeIfAbsent(onboarding.tieredCache(), _ -> new ArrayList<>())
                .add(onboarding);
          }
        } else {
          fallen.addAll(same);
        }
        at++;
      }
      arrived.forEach((tieredCache, higher) -> callbacks.run(() -> tieredCache.arrived(higher)));
      for (var onboarding : fallen) callbacks.run(() -> onboarding.tieredCache().fall(onboarding));
    }

    /** Whether the block is on the tier above now. */
    private boolean arrive(List<BlockOnboarding> same, Block.Empty target, CopyOutcome outcome) {
      return switch (outcome) {
        case CopyOutcome.Copied(var restored) -> {
          var registered = target.receiveMoved(content(same.getFirst(), restored));
          for (var onboarding : same) onboarding.step(registered.share());
          registered.release();
          yield true;
        }
        case CopyOutcome.Damaged _ -> {
          target.release();
          // Not the block's bytes: its last holder also makes it a miss.
          same.getFirst().held().onRelease(PoolSettings.Release.RESET);
          yield false;
        }
        case CopyOutcome.Failed _, CopyOutcome.Busy _ -> {
          target.release();
          yield false;
        }
      };
    }

    /** What the block holds: with its tokens, if the store brought them along. */
    private static TokenBlock content(BlockOnboarding onboarding, @Nullable TokenBlock restored) {
      if (restored == null) return onboarding.held().content();
      if (!restored.hash().equals(onboarding.hash())) {
        throw new IllegalStateException(
            restored + " was loaded for " + onboarding.held().content());
      }
      return restored;
    }
  }
}
