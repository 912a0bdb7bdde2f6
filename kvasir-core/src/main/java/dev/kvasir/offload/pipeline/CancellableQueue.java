package dev.kvasir.offload.pipeline;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.Optional;
import java.util.TreeSet;

/** A priority queue from which cancelled entries can be removed. */
final class CancellableQueue<T extends CancellableQueue.Entry> {
  private final TreeSet<T> waiting = new TreeSet<>(Entry.ORDER);
  private int blocks;

  void add(T item) {
    if (!waiting.add(item)) {
      throw new IllegalStateException(item + " waits already, number " + item.sequence());
    }
    blocks += item.size();
  }

  boolean isEmpty() {
    return waiting.isEmpty();
  }

  /** Returns the number of blocks that wait. */
  int blocks() {
    return blocks;
  }

  T first() {
    return waiting.first();
  }

  T remove() {
    var first = waiting.removeFirst();
    blocks -= first.size();
    return first;
  }

  /** Takes the item out, if it waits here. */
  boolean remove(T item) {
    if (!waiting.remove(item)) return false;
    blocks -= item.size();
    return true;
  }

  /** Ends the blocks that the sweep wants to end, and removes entries that are empty then. */
  void sweep(Entry.Sweep sweep) {
    for (var item : new ArrayList<>(waiting)) {
      // Ending a block may call back, and a callback may take from this queue or add to it.
      if (!waiting.remove(item)) continue;
      blocks -= item.size();
      item.sweep(sweep);
      if (item.size() > 0) add(item);
    }
  }

  /** Something that waits in a {@link CancellableQueue}. */
  interface Entry {
    /** Higher priorities first, then first come first served. */
    Comparator<Entry> ORDER =
        Comparator.comparingInt(Entry::priority).reversed().thenComparingLong(Entry::sequence);

    int priority();

    long sequence();

    /** Returns the number of blocks that wait in it. */
    int size();

    /** Ends the blocks that the sweep wants to end. */
    void sweep(Sweep sweep);

    /** Decides which containers end, and how. */
    @FunctionalInterface
    interface Sweep {
      Optional<BlockOutcome> end(OffloadContainer container);
    }
  }
}
