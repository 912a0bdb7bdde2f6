package dev.kvasir.engine;

import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.SequencedSet;
import java.util.TreeSet;

/** The sequences that wait for admission, in the order of their turn. */
final class WaitQueue {
  private final SequencedSet<Sequence> sequences;
  private final boolean sorted;

  private WaitQueue(SequencedSet<Sequence> sequences) {
    this.sequences = sequences;
    this.sorted = sequences instanceof TreeSet;
  }

  static WaitQueue firstCome() {
    return new WaitQueue(new LinkedHashSet<>());
  }

  static WaitQueue sorted(Comparator<Sequence> order) {
    return new WaitQueue(new TreeSet<>(order));
  }

  int size() {
    return sequences.size();
  }

  void add(Sequence sequence) {
    if (!sequences.add(sequence)) throw new IllegalStateException(sequence + " waits already");
  }

  /** Back in line before all others, where the order is that of arrival. */
  void addFirst(Sequence sequence) {
    if (sorted) add(sequence);
    else sequences.addFirst(sequence);
  }

  void remove(Sequence sequence) {
    if (!sequences.remove(sequence)) throw new IllegalStateException(sequence + " does not wait");
  }

  /** Whose turn it is, first to last. */
  Iterable<Sequence> inOrder() {
    return sequences;
  }
}
