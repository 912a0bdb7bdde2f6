package dev.kvasir.kv.evict;

import dev.kvasir.kv.evict.policy.EvictionPolicy;
import dev.kvasir.kv.name.TokenBlock;

/**
 * Evicts from a small queue of newcomers until they prove themselves, else from the main queue.
 *
 * <p>S3-FIFO over blocks that can be held: a block that is taken up leaves its queue, and rejoins
 * it at the end when it is released. A newcomer that was used moves to the main queue when its turn
 * comes; one that was not is evicted and remembered for a while, and goes straight to the main
 * queue when it comes back. In the main queue each use buys one more round, up to three.
 */
final class S3FifoEviction implements EvictionPolicy {
  private static final int SMALL = 0;
  private static final int MAIN = 1;
  private static final int SMALL_SHARE = 10;

  /**
   * State of a slot in one number: its name, except for the lowest bits, with its uses and queue.
   */
  private static final long USES = 3;

  private static final long IN_MAIN = 4;
  private static final int QUEUE_SHIFT = 2;
  private static final long NAME = ~(USES | IN_MAIN);

  private final SlotLists lists;
  private final GhostNames ghosts;
  private final long[] states;
  private final int smallMax;
  private int smallCount;

  S3FifoEviction(int slots, int kept) {
    this.lists = new SlotLists(slots, 2);
    this.ghosts = new GhostNames(kept);
    this.states = new long[slots];
    this.smallMax = Math.max(1, kept / SMALL_SHARE);
  }

  @Override
  public void registered(int slot, TokenBlock block) {
    long name = block.hash().spread() & NAME;
    states[slot] = ghosts.has(name) ? name | IN_MAIN : name;
  }

  @Override
  public void cached(int slot) {
    enqueue(queueOf(states[slot]), slot);
  }

  @Override
  public void held(int slot) {
    long state = states[slot];
    dequeue(queueOf(state), slot);
    if ((state & USES) != USES) states[slot] = state + 1;
  }

  @Override
  public void heldUnused(int slot) {
    dequeue(queueOf(states[slot]), slot);
  }

  @Override
  public int evict() {
    while (true) {
      int queue = smallCount > smallMax || lists.first(MAIN) == NONE ? SMALL : MAIN;
      int first = lists.first(queue);
      if (first == NONE) return NONE;
      dequeue(queue, first);
      long state = states[first];
      if ((state & USES) == 0) {
        if (queue == SMALL) ghosts.add(state);
        return first;
      }
      states[first] = queue == SMALL ? (state & NAME) | IN_MAIN : state - 1;
      enqueue(MAIN, first);
    }
  }

  @Override
  public void removed(int slot) {
    // A held slot is in no queue.
  }

  private static int queueOf(long state) {
    return (int) (state >>> QUEUE_SHIFT) & 1;
  }

  private void enqueue(int queue, int slot) {
    lists.add(queue, slot);
    if (queue == SMALL) smallCount++;
  }

  private void dequeue(int queue, int slot) {
    lists.remove(slot);
    if (queue == SMALL) smallCount--;
  }

  /**
   * Remembers about as many names as there are slots, the latest ones.
   *
   * <p>Each name has one place, where a newer one may displace it, and is forgotten after as many
   * later names as there are slots. The half of a name that is kept, and when, are one number. A
   * wrong answer costs one choice of queue, nothing else.
   */
  static final class GhostNames {
    private static final long UPPER = -1L << Integer.SIZE;

    private final int namesMax;
    private final long[] places;

    /**
     * Number of names that were added, plus {@link #namesMax}, so that a place never taken is out
     * of date.
     */
    private int count;

    GhostNames(int namesMax) {
      int length = Math.max(2, Integer.highestOneBit(Math.multiplyExact(namesMax, 2) - 1) << 1);
      this.namesMax = namesMax;
      this.places = new long[length];
      this.count = namesMax;
    }

    void add(long name) {
      count++;
      places[place(name)] = (name & UPPER) | Integer.toUnsignedLong(count);
    }

    boolean has(long name) {
      long kept = places[place(name)];
      return ((kept ^ name) & UPPER) == 0 && count - (int) kept < namesMax;
    }

    private int place(long name) {
      return (int) (name >>> 16) & places.length - 1;
    }
  }
}
