package dev.kvasir.engine;

import java.util.Comparator;
import java.util.TreeSet;

/** The sequences that wait for admission, in the order of their turn. */
final class WaitQueue {
  private final TreeSet<Sequence> sequences;
  private long lastTurn;
  private long firstTurn;
  private long reorders;

  WaitQueue(Comparator<Sequence> order) {
    this.sequences = new TreeSet<>(order);
  }

  int size() {
    return sequences.size();
  }

  /** Puts a sequence that has just come behind all others, where the order is that of arrival. */
  void add(Sequence sequence) {
    sequence.turn = ++lastTurn;
    insert(sequence);
  }

  /** Puts the sequence before all others, where the order is that of arrival. */
  void addFirst(Sequence sequence) {
    sequence.turn = --firstTurn;
    insert(sequence);
  }

  /** Puts a sequence that was taken out back to where it stood. */
  void putBack(Sequence sequence) {
    insert(sequence);
  }

  void remove(Sequence sequence) {
    if (!sequences.remove(sequence)) throw new IllegalStateException(sequence + " does not wait");
    reorders++;
  }

  /**
   * Returns the number of changes to the queue other than a sequence that joined at its end. While
   * this stays the same, the sequences that stood in it stand in it as before.
   */
  long reorders() {
    return reorders;
  }

  /** Returns the sequences in the order of their turns. */
  Iterable<Sequence> inOrder() {
    return sequences;
  }

  private void insert(Sequence sequence) {
    if (!sequences.add(sequence)) throw new IllegalStateException(sequence + " waits already");
    if (!sequences.last().equals(sequence)) reorders++;
  }
}
