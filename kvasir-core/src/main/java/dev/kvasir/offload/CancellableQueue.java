package dev.kvasir.offload;

import java.util.ArrayList;
import java.util.TreeSet;

/** Waits in order of priority, and can be swept of what was cancelled. */
final class CancellableQueue<T extends Sweepable> {
  private final TreeSet<T> waiting = new TreeSet<>(Sweepable.ORDER);
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

  /** How many blocks wait. */
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

  /** Ends what the sweep wants ended, and removes what is empty then. */
  void sweep(Sweepable.Sweep sweep) {
    for (var item : new ArrayList<>(waiting)) {
      // Ending a block may call back, and a callback may take from this queue or add to it.
      if (!waiting.remove(item)) continue;
      blocks -= item.size();
      item.sweep(sweep);
      if (item.size() > 0) add(item);
    }
  }
}
