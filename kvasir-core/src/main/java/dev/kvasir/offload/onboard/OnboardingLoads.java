package dev.kvasir.offload.onboard;

import dev.kvasir.Nullable;
import dev.kvasir.kv.Block;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.offload.store.Callbacks;
import dev.kvasir.time.EventLoop;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The blocks that one tiered cache is loading, each once for all callers that want it.
 *
 * <p>All blocks that a request found on one tier are loaded together, in one transfer for each
 * edge. If a block fails to load, it fails for all callers that wait for it; the other blocks
 * continue. If a store does not answer in time, no caller waits for its blocks any longer; they
 * stay here until it answers, and are loaded no further.
 */
public final class OnboardingLoads {
  private final BlockPool top;
  private final List<LowerTier> lowerTiers;
  private final List<TierLoads> loads;
  private final OnboardingLimits limits;
  private final Callbacks callbacks;
  private final Map<BlockHash, BlockOnboarding> underWay = new LinkedHashMap<>();

  /** Onboardings that are to start, in the order in which they were wanted. */
  private final List<BlockOnboarding> starting = new ArrayList<>();

  private long wanted;
  private int overdue;
  private long loadsTimedOut;

  /**
   * The way up in a tiered cache.
   *
   * @param loads the edges from the top down, of which other tiered caches may share the lower ones
   */
  public OnboardingLoads(
      EventLoop loop,
      BlockPool top,
      List<LowerTier> lowerTiers,
      List<TierLoads> loads,
      OnboardingLimits limits) {
    this.top = top;
    this.lowerTiers = lowerTiers;
    this.loads = loads;
    this.limits = limits;
    this.callbacks = new Callbacks(loop);
  }

  public int size() {
    return underWay.size();
  }

  /**
   * Returns the number of further blocks that could come all the way up, if all those under way do.
   */
  public int room() {
    if (lowerTiers.isEmpty()) return 0;
    int stillBelow = underWay.size() - loads.getFirst().reserved();
    int unclaimed = top.available() - stillBelow;
    return Math.max(0, Math.min(limits.reservedMax(top.total()) - underWay.size(), unclaimed));
  }

  public int overdue() {
    return overdue;
  }

  public long loadsTimedOut() {
    return loadsTimedOut;
  }

  /** Holds the block if it is at the top. */
  Optional<Block.Registered> here(BlockHash hash) {
    return top.hold(hash);
  }

  /**
   * Asks for a block that is not on the fastest tier: answered later, or never where it is gone.
   *
   * @return whether it is on its way
   */
  boolean want(BlockHash hash, Consumer<Block.@Nullable Registered> then) {
    var known = underWay.get(hash);
    if (known != null) {
      if (known.isOverdue()) return false;
      known.await(then);
      return true;
    }
    if (room() == 0) return false;
    for (int level = 0; level < lowerTiers.size(); level++) {
      if (loads.get(level).isOverdue(hash)) return false;
      var below = lowerTiers.get(level).pool().hold(hash);
      if (below.isEmpty()) continue;
      var onboarding = new BlockOnboarding(this, wanted++, level, below.get(), callbacks);
      onboarding.await(then);
      underWay.put(hash, onboarding);
      starting.add(onboarding);
      return true;
    }
    return false;
  }

  /**
   * Starts the loads that were wanted since the last call, up to the first block without room: a
   * block behind a gap is useless.
   */
  void start() {
    var all = List.copyOf(starting);
    starting.clear();
    long end = firstWithoutRoom(all);
    for (int level = 0; level < lowerTiers.size(); level++) {
      int from = level;
      loadFrom(level, all.stream().filter(c -> c.level() == from && c.sequence() < end).toList());
    }
    // Last, because a listener may take the room at once.
    for (var onboarding : all) if (onboarding.sequence() >= end) fall(onboarding);
  }

  private long firstWithoutRoom(List<BlockOnboarding> all) {
    var room = new int[lowerTiers.size()];
    for (int level = 0; level < room.length; level++) room[level] = loads.get(level).room(limits);
    for (var onboarding : all) {
      if (loads.get(onboarding.level()).isLoading(onboarding.hash())) continue;
      if (room[onboarding.level()]-- == 0) return onboarding.sequence();
    }
    return Long.MAX_VALUE;
  }

  /** One step up for the whole group, as far as there is room. */
  private void loadFrom(int level, List<BlockOnboarding> group) {
    if (group.isEmpty()) return;
    for (var onboarding : loads.get(level).load(group, limits)) fall(onboarding);
  }

  /** These have come one tier up together. Those that no caller waits for any more stay there. */
  void arrived(List<BlockOnboarding> onboardings) {
    var further = new ArrayList<BlockOnboarding>();
    for (var onboarding : onboardings) {
      if (onboarding.level() >= 0 && !onboarding.isOverdue()) further.add(onboarding);
      else leave(onboarding);
    }
    if (!further.isEmpty()) loadFrom(further.getFirst().level(), further);
  }

  private void leave(BlockOnboarding onboarding) {
    remove(onboarding);
    onboarding.reach();
  }

  /** The block comes no further. */
  void fall(BlockOnboarding onboarding) {
    remove(onboarding);
    onboarding.fall();
  }

  private void remove(BlockOnboarding onboarding) {
    underWay.remove(onboarding.hash());
    if (onboarding.isOverdue()) overdue--;
  }

  /** The store has not answered in time. */
  void giveUp(BlockOnboarding onboarding) {
    overdue++;
    onboarding.giveUp();
  }

  /** A load that this tiered cache began was not answered in time. */
  void timedOut() {
    loadsTimedOut++;
  }
}
