package dev.kvasir.offload;

import dev.kvasir.Nullable;
import dev.kvasir.kv.Block;
import dev.kvasir.kv.BlockHash;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PoolSettings;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Blocks on their way up the ladder, each once however many want it.
 *
 * <p>All blocks that one request found on the same tier climb together, one transfer for each edge.
 * A block that fails to climb fails for all who wait for it; the others go on.
 */
final class Ascents {
  private final BlockPool top;
  private final List<Rung> rungs;
  private final Map<BlockHash, Climber> climbing = new LinkedHashMap<>();

  /** For each rung, from the top down, the blocks that are to start from it. */
  private final List<List<Climber>> starting = new ArrayList<>();

  Ascents(BlockPool top, List<Rung> rungs) {
    this.top = top;
    this.rungs = rungs;
    for (int i = 0; i < rungs.size(); i++) starting.add(new ArrayList<>());
  }

  int size() {
    return climbing.size();
  }

  /** One block on its way up: its hold on the rung it has reached, and who waits for it. */
  private static final class Climber {
    private final List<Consumer<Block.@Nullable Registered>> waiting = new ArrayList<>();
    private Block.Registered held;

    Climber(Block.Registered held) {
      this.held = held;
    }
  }

  /** Asks for the block at the top: told at once if it is there or nowhere, else later. */
  void want(BlockHash hash, Consumer<Block.@Nullable Registered> then) {
    var known = climbing.get(hash);
    if (known != null) {
      known.waiting.add(then);
      return;
    }
    var here = top.hold(hash);
    if (here.isPresent()) {
      then.accept(here.get());
      return;
    }
    for (int rung = 0; rung < rungs.size(); rung++) {
      var below = rungs.get(rung).pool().hold(hash);
      if (below.isPresent()) {
        var climber = new Climber(below.get());
        climber.waiting.add(then);
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
    int room = Math.min(group.size(), above.available());
    for (var climber : group.subList(room, group.size())) fall(climber);
    if (room == 0) return;
    var climbers = group.subList(0, room);
    var targets = above.allocate(room).orElseThrow();
    var copies = new ArrayList<BlockCopy>(room);
    for (int i = 0; i < room; i++) {
      var held = climbers.get(i).held;
      copies.add(new BlockCopy(held.content(), targets.get(i).id(), held.id()));
    }
    rungs.get(rung).store().load(copies, outcomes -> arrived(rung, climbers, targets, outcomes));
  }

  private void arrived(
      int rung, List<Climber> climbers, List<Block.Empty> targets, List<CopyOutcome> outcomes) {
    var higher = new ArrayList<Climber>();
    for (int i = 0; i < climbers.size(); i++) {
      var climber = climbers.get(i);
      switch (outcomes.get(i)) {
        case CopyOutcome.Copied _ -> {
          var below = climber.held;
          climber.held = targets.get(i).receive(below.content());
          below.release();
          higher.add(climber);
        }
        case CopyOutcome.Damaged _ -> {
          targets.get(i).release();
          // Not the block's bytes: whoever holds it last also makes it a miss.
          climber.held.onRelease(PoolSettings.Release.RESET);
          fall(climber);
        }
        case CopyOutcome.Failed _ -> {
          targets.get(i).release();
          fall(climber);
        }
      }
    }
    if (higher.isEmpty()) return;
    if (rung > 0) climb(rung - 1, higher);
    else for (var climber : higher) reach(climber);
  }

  private void reach(Climber climber) {
    climbing.remove(climber.held.hash());
    for (var then : climber.waiting) then.accept(climber.held.share());
    climber.held.release();
  }

  private void fall(Climber climber) {
    climbing.remove(climber.held.hash());
    climber.held.release();
    for (var then : climber.waiting) then.accept(null);
  }
}
