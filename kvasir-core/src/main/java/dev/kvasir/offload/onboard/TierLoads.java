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
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;

/**
 * Loads from one tier into the one above it, for all tiered caches that have this edge.
 *
 * <p>A block is loaded once for all tiered caches that want it. The reserved blocks of the tier
 * above are counted here, so that several tiered caches together reserve no more than one may. A
 * store gets a load in {@link LoadWindows windows}. If it does not answer all in time, the load
 * fails for all that wait or ask for it, until the store answers; the slots that the store has stay
 * reserved, since it may still write to them.
 */
public final class TierLoads {
  private final EventLoop loop;
  private final BlockPool above;
  private final LowerTier lower;
  private final Callbacks callbacks;

  /** The blocks under way. */
  private final HashMap<BlockHash, Passage> loading = new HashMap<>();

  /** The loads that the store does not have all blocks of; the next is first. */
  private final Deque<Load> waiting = new ArrayDeque<>();

  private int reserved;

  /** Copies that the store has. */
  private int copying;

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

  /** Returns the number of further blocks that can be loaded now. */
  int room(OnboardingLimits limits) {
    int unreserved = limits.reservedMax(above.total()) - reserved;
    return Math.max(0, Math.min(unreserved, above.available()));
  }

  boolean isLoading(BlockHash hash) {
    return loading.containsKey(hash);
  }

  /** Returns whether the block is being loaded and its store has not answered in time. */
  boolean isOverdue(BlockHash hash) {
    var passage = loading.get(hash);
    return passage != null && passage.load.late;
  }

  /**
   * Loads the blocks of a prefix, as far as there is room; those that are being loaded already are
   * waited for. Each block learns the outcome from its cache.
   *
   * @return those that there is no room for
   */
  List<BlockOnboarding> load(List<BlockOnboarding> group, OnboardingLimits limits) {
    int room = room(limits);
    var fresh = new ArrayList<BlockOnboarding>();
    var left = new ArrayList<BlockOnboarding>();
    for (var onboarding : group) {
      var known = loading.get(onboarding.hash());
      if (known != null && !known.load.late) known.wanted.add(onboarding);
      else if (known == null && fresh.size() < room) fresh.add(onboarding);
      else left.add(onboarding);
    }
    if (!fresh.isEmpty()) begin(fresh, limits);
    return left;
  }

  private void begin(List<BlockOnboarding> onboardings, OnboardingLimits limits) {
    var targets = above.allocate(onboardings.size()).orElseThrow();
    waiting.add(new Load(onboardings, targets, limits));
    handOver();
  }

  /** Hands windows to the store while it has room, one of each load in turn. */
  private void handOver() {
    var windows = lower.windows();
    while (!waiting.isEmpty()) {
      int count = Math.min(waiting.element().left(), windows.windowMax());
      if (count > windows.copiesMax() - copying) return;
      var load = waiting.remove();
      var window = load.window(count);
      if (load.left() > 0) waiting.add(load);
      copying += count;
      window.begin();
    }
  }

  /** One block on its way, the slot it is for, and who wants it. */
  private final class Passage {
    private final Load load;
    private final Block.Empty target;
    private final List<BlockOnboarding> wanted = new ArrayList<>();
    private boolean ended;

    Passage(Load load, BlockOnboarding first, Block.Empty target) {
      this.load = load;
      this.target = target;
      wanted.add(first);
      loading.put(first.hash(), this);
      reserved++;
    }

    BlockOnboarding first() {
      return wanted.getFirst();
    }

    BlockCopy copy() {
      return new BlockCopy(first().held().content(), target.id(), first().held().id());
    }

    /** It is not on its way any more. */
    void end() {
      ended = true;
      loading.remove(first().hash());
      reserved--;
    }
  }

  /** The blocks of one prefix, in its order; the store has those before {@code next}. */
  private final class Load {
    private final List<Passage> passages;
    private final OnboardingLoads beginner;
    private final Timer timer;
    private int next;
    private int ended;
    private boolean late;

    Load(List<BlockOnboarding> group, List<Block.Empty> targets, OnboardingLimits limits) {
      this.passages = new ArrayList<>(group.size());
      for (int i = 0; i < group.size(); i++) {
        passages.add(new Passage(this, group.get(i), targets.get(i)));
      }
      this.beginner = group.getFirst().tieredCache();
      this.timer = loop.after(limits.loadTimeout(), this::giveUp);
    }

    int left() {
      return passages.size() - next;
    }

    Window window(int count) {
      next += count;
      return new Window(this, passages.subList(next - count, next));
    }

    void end(Passage passage) {
      passage.end();
      ended++;
      if (ended == passages.size()) timer.cancel();
    }

    private void giveUp() {
      late = true;
      beginner.timedOut();
      var rest = leave();
      for (var passage : passages) {
        if (passage.ended) continue;
        for (var onboarding : List.copyOf(passage.wanted)) {
          onboarding.tieredCache().giveUp(onboarding);
        }
      }
      for (var passage : rest) fall(passage);
      handOver();
    }

    /** Gives up what the store does not have yet, and returns it. */
    List<Passage> leave() {
      if (left() == 0) return List.of();
      waiting.remove(this);
      var rest = passages.subList(next, passages.size());
      next = passages.size();
      for (var passage : rest) {
        end(passage);
        passage.target.release();
      }
      return rest;
    }
  }

  private void fall(Passage passage) {
    for (var onboarding : passage.wanted) {
      callbacks.run(() -> onboarding.tieredCache().fall(onboarding));
    }
  }

  /** Blocks that the store has: the slots on both sides are its own until it answers. */
  private final class Window {
    private final Load load;
    private final List<Passage> passages;
    private boolean answered;

    Window(Load load, List<Passage> passages) {
      this.load = load;
      this.passages = passages;
    }

    void begin() {
      var copies = new ArrayList<BlockCopy>(passages.size());
      for (var passage : passages) copies.add(passage.copy());
      AnsweredCall.make(loop, lower.store()::load, copies, this::answered);
    }

    private void answered(List<CopyOutcome> outcomes) {
      if (answered || outcomes.size() != passages.size()) {
        throw new IllegalStateException(
            outcomes.size() + " outcomes for " + passages.size() + " loads, answered " + answered);
      }
      answered = true;
      copying -= passages.size();
      var arrived = new LinkedHashMap<OnboardingLoads, List<BlockOnboarding>>();
      var fallen = new ArrayList<Passage>();
      for (int i = 0; i < passages.size(); i++) {
        var passage = passages.get(i);
        load.end(passage);
        if (!arrive(passage, outcomes.get(i))) {
          fallen.add(passage);
          continue;
        }
        for (var onboarding : passage.wanted) {
          arrived.computeIfAbsent(onboarding.tieredCache(), _ -> new ArrayList<>()).add(onboarding);
        }
      }
      // What is behind a gap is of no use.
      if (!fallen.isEmpty()) fallen.addAll(load.leave());
      arrived.forEach((tieredCache, higher) -> callbacks.run(() -> tieredCache.arrived(higher)));
      for (var passage : fallen) fall(passage);
      handOver();
    }

    /** Ends the load of the block, and returns whether the block is on the tier above now. */
    private boolean arrive(Passage passage, CopyOutcome outcome) {
      return switch (outcome) {
        case CopyOutcome.Copied(var restored) -> {
          var registered = passage.target.receiveMoved(content(passage.first(), restored));
          for (var onboarding : passage.wanted) onboarding.step(registered.share());
          registered.release();
          yield true;
        }
        case CopyOutcome.Damaged _ -> {
          passage.target.release();
          // Not the block's bytes: its last holder also makes it a miss.
          passage.first().held().onRelease(PoolSettings.Release.RESET);
          yield false;
        }
        case CopyOutcome.Failed _, CopyOutcome.Refused _, CopyOutcome.Busy _ -> {
          passage.target.release();
          yield false;
        }
      };
    }

    /** Returns the content of the block: with its tokens, if the store brought them along. */
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
