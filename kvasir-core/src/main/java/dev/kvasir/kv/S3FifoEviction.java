package dev.kvasir.kv;

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
  private static final int USES_MAX = 3;

  private final SlotLists lists;
  private final GhostNames ghosts;
  private final long[] names;
  private final byte[] queue;
  private final byte[] uses;
  private final int smallMax;
  private int smallCount;

  S3FifoEviction(int slots) {
    this.lists = new SlotLists(slots, 2);
    this.ghosts = new GhostNames(slots);
    this.names = new long[slots];
    this.queue = new byte[slots];
    this.uses = new byte[slots];
    this.smallMax = Math.max(1, slots / SMALL_SHARE);
  }

  @Override
  public void registered(int slot, TokenBlock block) {
    names[slot] = block.hash().spread();
    queue[slot] = (byte) (ghosts.has(names[slot]) ? MAIN : SMALL);
    uses[slot] = 0;
  }

  @Override
  public void cached(int slot) {
    enqueue(slot);
  }

  @Override
  public void held(int slot) {
    dequeue(slot);
    if (uses[slot] < USES_MAX) uses[slot]++;
  }

  @Override
  public int evict() {
    while (true) {
      int main = lists.first(MAIN);
      if (smallCount > smallMax || main == NONE) {
        int small = lists.first(SMALL);
        if (small == NONE) return NONE;
        if (uses[small] == 0) {
          dequeue(small);
          ghosts.add(names[small]);
          return small;
        }
        promote(small);
      } else {
        lists.remove(main);
        if (uses[main] == 0) return main;
        uses[main]--;
        lists.add(MAIN, main);
      }
    }
  }

  @Override
  public void removed(int slot) {
    // A held slot is in no queue.
  }

  private void promote(int slot) {
    dequeue(slot);
    queue[slot] = MAIN;
    uses[slot] = 0;
    enqueue(slot);
  }

  private void enqueue(int slot) {
    lists.add(queue[slot], slot);
    if (queue[slot] == SMALL) smallCount++;
  }

  private void dequeue(int slot) {
    lists.remove(slot);
    if (queue[slot] == SMALL) smallCount--;
  }
}
