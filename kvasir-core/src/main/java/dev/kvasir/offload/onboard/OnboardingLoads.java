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
 * Blocks on their way up one ladder, each once however many want it.
 *
 * <p>All blocks that one request found on the same tier climb together, one transfer for each edge.
 * A block that fails to load fails for all callers that wait for it; the others continue. A block
 * whose store does not answer in time is given up, and stays here until it is answered: no caller
 * waits for it, and it goes no further.
 */
public final class OnboardingLoads {
  private final BlockPool top;
  private final List<LowerTier> rungs;
  private final List<TierLoads> loads;
  private final OnboardingLimits limits;
  private final Callbacks callbacks;
  private final Map<BlockHash, BlockOnboarding> climbing = new LinkedHashMap<>();

  /** What is to start, in the order it was wanted. */
  private final List<BlockOnboarding> starting = new ArrayList<>();

  private long wanted;
  private int overdue;
  private long loadsTimedOut;

  /**
   * The way up a ladder.
   *
   * @param loads the edges from the top down, of which other ladders may share the lower ones
   */
  public OnboardingLoads(
      EventLoop loop,
      BlockPool top,
      List<LowerTier> rungs,
      List<TierLoads> loads,
      OnboardingLimits limits) {
    this.top = top;
    this.rungs = rungs;
    this.loads = loads;
    this.limits = limits;
    this.callbacks = new Callbacks(loop);
  }

  public int size() {
    return climbing.size();
  }

  /** How many more blocks could come all the way up, if those under way all do. */
  public int room() {
    if (rungs.isEmpty()) return 0;
    int stillBelow = climbing.size() - loads.getFirst().reserved();
    int unclaimed = top.available() - stillBelow;
    return Math.max(0, Math.min(limits.reservedMax(top.total()) - climbing.size(), unclaimed));
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
    var known = climbing.get(hash);
    if (known != null) {
      if (known.isOverdue()) return false;
      known.await(then);
      return true;
    }
    if (room() == 0) return false;
    for (int rung = 0; rung < rungs.size(); rung++) {
      if (loads.get(rung).isOverdue(hash)) return false;
      var below = rungs.get(rung).pool().hold(hash);
      if (below.isEmpty()) continue;
      var climber = new BlockOnboarding(this, wanted++, rung, below.get(), callbacks);
      climber.await(then);
      climbing.put(hash, climber);
      starting.add(climber);
      return true;
    }
    return false;
  }

  /**
   * Sets off what was wanted since the last start: all of it before the first block that there is
   * no room for, since a block behind a gap is of no use.
   */
  void start() {
    var all = List.copyOf(starting);
    starting.clear();
    long end = firstWithoutRoom(all);
    for (int rung = 0; rung < rungs.size(); rung++) {
      int from = rung;
      climb(rung, all.stream().filter(c -> c.rung() == from && c.sequence() < end).toList());
    }
    // Last, because a listener may take the room at once.
    for (var climber : all) if (climber.sequence() >= end) fall(climber);
  }

  private long firstWithoutRoom(List<BlockOnboarding> all) {
    var room = new int[rungs.size()];
    for (int rung = 0; rung < room.length; rung++) room[rung] = loads.get(rung).room(limits);
    for (var climber : all) {
      if (loads.get(climber.rung()).isLoading(climber.hash())) continue;
      if (room[climber.rung()]-- == 0) return climber.sequence();
    }
    return Long.MAX_VALUE;
  }

  /** One step up for the whole group, as far as there is room. */
  private void climb(int rung, List<BlockOnboarding> group) {
    if (group.isEmpty()) return;
    for (var climber : loads.get(rung).load(group, limits)) fall(climber);
  }

  /** These have come one tier up together. Those that no caller waits for any more stay there. */
  void arrived(List<BlockOnboarding> climbers) {
    var further = new ArrayList<BlockOnboarding>();
    for (var climber : climbers) {
      if (climber.rung() >= 0 && !climber.isOverdue()) further.add(climber);
      else leave(climber);
    }
    if (!further.isEmpty()) climb(further.getFirst().rung(), further);
  }

  private void leave(BlockOnboarding climber) {
    remove(climber);
    climber.reach();
  }

  /** The climber comes no further. */
  void fall(BlockOnboarding climber) {
    remove(climber);
    climber.fall();
  }

  private void remove(BlockOnboarding climber) {
    climbing.remove(climber.hash());
    if (climber.isOverdue()) overdue--;
  }

  /** The store has not answered in time. */
  void giveUp(BlockOnboarding climber) {
    overdue++;
    climber.giveUp();
  }

  /** A load that this ladder began was not answered in time. */
  void timedOut() {
    loadsTimedOut++;
  }
}
