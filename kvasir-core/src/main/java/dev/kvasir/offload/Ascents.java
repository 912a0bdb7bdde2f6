package dev.kvasir.offload;

import dev.kvasir.Nullable;
import dev.kvasir.kv.Block;
import dev.kvasir.kv.BlockHash;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.TokenBlock;
import dev.kvasir.time.EventLoop;
import dev.kvasir.time.Timer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Blocks on their way up the ladder, each once however many want it.
 *
 * <p>All blocks that one request found on the same tier climb together, one transfer for each edge.
 * A block that fails to climb fails for all who wait for it; the others go on. A load that its
 * store does not answer in time fails for all who wait, and for all who ask until it is answered;
 * its slots stay reserved, since they are the store's. What it brings then is kept where it is.
 */
final class Ascents {
  private final EventLoop loop;
  private final BlockPool top;
  private final List<Rung> rungs;
  private final ClimbLimits limits;
  private final Map<BlockHash, Climber> climbing = new LinkedHashMap<>();

  /** For each rung, from the top down, the blocks that are to start from it. */
  private final List<List<Climber>> starting = new ArrayList<>();

  /** For each rung the blocks reserved on the tier above it. */
  private final int[] reserved;

  private int overdue;
  private long loadsTimedOut;

  Ascents(EventLoop loop, BlockPool top, List<Rung> rungs, ClimbLimits limits) {
    this.loop = loop;
    this.top = top;
    this.rungs = rungs;
    this.limits = limits;
    this.reserved = new int[rungs.size()];
    for (int i = 0; i < rungs.size(); i++) starting.add(new ArrayList<>());
  }

  int size() {
    return climbing.size();
  }

  /** How many more blocks could come all the way up, if those under way all do. */
  int room() {
    if (rungs.isEmpty()) return 0;
    int stillBelow = climbing.size() - reserved[0];
    int unclaimed = top.available() - stillBelow;
    return Math.max(0, Math.min(limits.reservedMax(top.total()) - climbing.size(), unclaimed));
  }

  int overdue() {
    return overdue;
  }

  long loadsTimedOut() {
    return loadsTimedOut;
  }

  /** Asks for the block at the top: told at once if it is there or not to be had, else later. */
  void want(BlockHash hash, Consumer<Block.@Nullable Registered> then) {
    // First, since a block whose climb is overdue may have been computed again.
    var here = top.hold(hash);
    if (here.isPresent()) {
      then.accept(here.get());
      return;
    }
    var known = climbing.get(hash);
    if (known != null) {
      if (known.isOverdue()) then.accept(null);
      else known.await(then);
      return;
    }
    for (int rung = 0; rung < rungs.size(); rung++) {
      var below = rungs.get(rung).pool().hold(hash);
      if (below.isPresent()) {
        var climber = new Climber(below.get());
        climber.await(then);
        climbing.put(hash, climber);
        starting.get(rung).add(climber);
        return;
      }
    }
    then.accept(null);
  }

  /** Sets off what was wanted since the last start. */
  void start() {
    for (int rung = 0; rung < rungs.size(); rung++) {
      var group = List.copyOf(starting.get(rung));
      starting.get(rung).clear();
      if (!group.isEmpty()) climb(rung, group);
    }
  }

  /** One step up for the whole group, as far as there is room. */
  private void climb(int rung, List<Climber> group) {
    var above = rung == 0 ? top : rungs.get(rung - 1).pool();
    int room = limits.reservedMax(above.total()) - reserved[rung];
    int count = Math.min(group.size(), Math.min(room, above.available()));
    if (count > 0) {
      var targets = above.allocate(count).orElseThrow();
      new Load(rung, group.subList(0, count), targets).begin();
    }
    // Last, since whoever is told may well take the room.
    for (var climber : group.subList(count, group.size())) fall(climber);
  }

  private void fall(Climber climber) {
    climbing.remove(climber.hash());
    climber.fall();
  }

  /** A group on its way over one edge: the slots on both sides are the store's until it answers. */
  private final class Load {
    private final int rung;
    private final List<Climber> climbers;
    private final List<Block.Empty> targets;
    private final Timer timer;
    private boolean late;
    private boolean answered;

    Load(int rung, List<Climber> climbers, List<Block.Empty> targets) {
      this.rung = rung;
      this.climbers = climbers;
      this.targets = targets;
      this.timer = loop.after(limits.loadTimeout(), this::giveUp);
    }

    void begin() {
      reserved[rung] += targets.size();
      var copies = new ArrayList<BlockCopy>(targets.size());
      for (int i = 0; i < targets.size(); i++) {
        var held = climbers.get(i).held();
        copies.add(new BlockCopy(held.content(), targets.get(i).id(), held.id()));
      }
      rungs.get(rung).store().load(copies, this::answered);
    }

    private void giveUp() {
      late = true;
      loadsTimedOut++;
      overdue += climbers.size();
      for (var climber : climbers) climber.giveUp();
    }

    private void answered(List<CopyOutcome> outcomes) {
      if (answered || outcomes.size() != climbers.size()) {
        throw new IllegalStateException(
            outcomes.size() + " outcomes for " + climbers.size() + " loads, answered " + answered);
      }
      answered = true;
      timer.cancel();
      reserved[rung] -= climbers.size();
      if (late) overdue -= climbers.size();
      var higher = new ArrayList<Climber>();
      var fallen = new ArrayList<Climber>();
      for (int i = 0; i < climbers.size(); i++) {
        boolean arrived = arrive(climbers.get(i), targets.get(i), outcomes.get(i));
        (arrived ? higher : fallen).add(climbers.get(i));
      }
      goOn(higher);
      for (var climber : fallen) fall(climber);
    }

    /** Whether the block is on the tier above now. */
    private boolean arrive(Climber climber, Block.Empty target, CopyOutcome outcome) {
      return switch (outcome) {
        case CopyOutcome.Copied(var restored) -> {
          climber.step(target.receiveMoved(content(climber, restored)));
          yield true;
        }
        case CopyOutcome.Damaged _ -> {
          target.release();
          // Not the block's bytes: whoever holds it last also makes it a miss.
          climber.held().onRelease(PoolSettings.Release.RESET);
          yield false;
        }
        case CopyOutcome.Failed _, CopyOutcome.Busy _ -> {
          target.release();
          yield false;
        }
      };
    }

    /** What the block holds: with its tokens, if the store brought them along. */
    private static TokenBlock content(Climber climber, @Nullable TokenBlock restored) {
      if (restored == null) return climber.held().content();
      if (!restored.hash().equals(climber.hash())) {
        throw new IllegalStateException(restored + " was loaded for " + climber.held().content());
      }
      return restored;
    }

    /** Blocks that nobody waits for any more stay where they are. */
    private void goOn(List<Climber> higher) {
      if (rung > 0 && !late && !higher.isEmpty()) {
        climb(rung - 1, higher);
        return;
      }
      for (var climber : higher) {
        climbing.remove(climber.hash());
        climber.reach();
      }
    }
  }
}
