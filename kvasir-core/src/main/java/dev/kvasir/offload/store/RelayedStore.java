package dev.kvasir.offload.store;

import dev.kvasir.kv.name.TokenBlock;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;

/**
 * A store below a tier that is not memory: blocks pass through a few slots of host memory.
 *
 * <p>Both stores copy between their slots and that memory, and do not know each other. Copies wait
 * until a slot is free; loads go before stores, since requests wait for them, but one turn in four
 * is a store's if any waits. If the tier above cannot read or write a block, its copy has failed,
 * so that the store below is not blamed. Belongs to one loop.
 */
public final class RelayedStore implements TierStore {
  private static final int STORE_TURN = 4;

  private final TierStore above;
  private final TierStore below;
  private final Deque<Integer> free = new ArrayDeque<>();
  private final Deque<Passage> loads = new ArrayDeque<>();
  private final Deque<Passage> stores = new ArrayDeque<>();
  private int turn;

  /** Relays through a range of slots of the memory that no one else uses. */
  public RelayedStore(TierStore above, TierStore below, int firstSlot, int slots) {
    if (firstSlot < 0 || slots < 1) {
      throw new IllegalArgumentException(slots + " slots from " + firstSlot);
    }
    this.above = above;
    this.below = below;
    for (int i = 0; i < slots; i++) free.add(firstSlot + i);
  }

  @Override
  public void store(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
    if (copies.isEmpty()) below.store(copies, done);
    else begin(stores, new Passage(Way.DOWN, copies, done));
  }

  @Override
  public void load(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
    if (copies.isEmpty()) below.load(copies, done);
    else begin(loads, new Passage(Way.UP, copies, done));
  }

  private void begin(Deque<Passage> queue, Passage passage) {
    queue.add(passage);
    run();
  }

  private void run() {
    while (!free.isEmpty() && !(loads.isEmpty() && stores.isEmpty())) {
      turn = (turn + 1) % STORE_TURN;
      boolean isStoreTurn = loads.isEmpty() || (turn == 0 && !stores.isEmpty());
      var queue = isStoreTurn ? stores : loads;
      var passage = queue.element();
      int count = Math.min(free.size(), passage.left());
      var part = new ArrayList<Step>();
      for (int i = 0; i < count; i++) part.add(new Step(passage, passage.next++, free.remove()));
      if (passage.left() == 0) queue.remove();
      fetch(passage.way, part);
    }
  }

  private void fetch(Way way, List<Step> part) {
    var source = way == Way.DOWN ? above : below;
    AnsweredCall.make(
        source::load,
        part.stream().map(Step::fetched).toList(),
        outcomes -> fetched(way, part, outcomes));
  }

  private void fetched(Way way, List<Step> part, List<CopyOutcome> outcomes) {
    var further = new ArrayList<Step>();
    try {
      for (int i = 0; i < part.size(); i++) {
        var step = part.get(i);
        if (outcomes.get(i) instanceof CopyOutcome.Copied copied) {
          step.passage.outcomes.set(step.index, copied);
          further.add(step);
        } else {
          end(step, way == Way.DOWN ? ofAbove(outcomes.get(i)) : outcomes.get(i));
        }
      }
    } finally {
      if (further.isEmpty()) run();
      else passOn(way, further);
    }
  }

  private void passOn(Way way, List<Step> part) {
    var target = way == Way.DOWN ? below : above;
    AnsweredCall.make(
        target::store,
        part.stream().map(Step::passedOn).toList(),
        outcomes -> passedOn(way, part, outcomes));
  }

  private void passedOn(Way way, List<Step> part, List<CopyOutcome> outcomes) {
    try {
      for (int i = 0; i < part.size(); i++) {
        var step = part.get(i);
        var outcome = outcomes.get(i);
        // The caller receives what came with the bytes.
        if (way == Way.DOWN) end(step, outcome);
        else if (outcome instanceof CopyOutcome.Copied) end(step, step.outcome());
        else end(step, ofAbove(outcome));
      }
    } finally {
      run();
    }
  }

  private static CopyOutcome ofAbove(CopyOutcome outcome) {
    return switch (outcome) {
      case CopyOutcome.Copied copied -> copied;
      case CopyOutcome.Damaged(var reason) -> new CopyOutcome.Failed("the tier above: " + reason);
      case CopyOutcome.Failed(var reason) -> new CopyOutcome.Failed("the tier above: " + reason);
      case CopyOutcome.Refused refused -> refused;
      case CopyOutcome.Busy(var who) -> new CopyOutcome.Failed("the tier above waits for " + who);
    };
  }

  private void end(Step step, CopyOutcome outcome) {
    free.add(step.slot);
    step.passage.end(step.index, outcome);
  }

  /** Direction in which blocks go. */
  private enum Way {
    DOWN,
    UP
  }

  /** One call: answered once, when all of its copies have an outcome. */
  private static final class Passage {
    private final Way way;
    private final List<BlockCopy> copies;
    private final List<CopyOutcome> outcomes;
    private final Consumer<List<CopyOutcome>> done;
    private int next;
    private int missing;

    Passage(Way way, List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
      this.way = way;
      this.copies = List.copyOf(copies);
      this.outcomes = new ArrayList<>(copies.stream().map(_ -> CopyOutcome.COPIED).toList());
      this.done = done;
      this.missing = copies.size();
    }

    int left() {
      return copies.size() - next;
    }

    void end(int index, CopyOutcome outcome) {
      outcomes.set(index, outcome);
      missing--;
      if (missing == 0) done.accept(List.copyOf(outcomes));
    }
  }

  /** One block in its slot of the memory between. */
  private record Step(Passage passage, int index, int slot) {
    private BlockCopy copy() {
      return passage.copies.get(index);
    }

    CopyOutcome outcome() {
      return passage.outcomes.get(index);
    }

    BlockCopy fetched() {
      int from = passage.way == Way.DOWN ? copy().above() : copy().below();
      return new BlockCopy(copy().block(), slot, from);
    }

    BlockCopy passedOn() {
      int to = passage.way == Way.DOWN ? copy().below() : copy().above();
      return new BlockCopy(content(), slot, to);
    }

    /** With its tokens, if they came along. */
    private TokenBlock content() {
      return outcome() instanceof CopyOutcome.Copied(var content) && content != null
          ? content
          : copy().block();
    }
  }
}
