package dev.kvasir.embedded.step;

import dev.kvasir.engine.Sequence;
import dev.kvasir.kv.KvSpan;
import java.util.IdentityHashMap;
import java.util.List;

/** The answers in the making, by the sequence that the engine knows each as. */
public final class Generations {
  private final IdentityHashMap<Sequence, Generation> bySequence = new IdentityHashMap<>();

  /** Computes for this answer from now on. */
  public void add(Generation generation) {
    bySequence.put(generation.sequence(), generation);
  }

  public void remove(Sequence sequence) {
    bySequence.remove(sequence);
  }

  public int size() {
    return bySequence.size();
  }

  /** All of them, in no order. */
  public List<Generation> all() {
    return List.copyOf(bySequence.values());
  }

  Generation of(Sequence sequence) {
    var generation = bySequence.get(sequence);
    if (generation == null) throw new IllegalStateException(sequence + " has no answer to give");
    return generation;
  }

  /** Returns the slots in which the first blocks of a sequence lie. */
  static int[] slots(KvSpan span, int blocks) {
    var slots = new int[blocks];
    for (int i = 0; i < blocks; i++) slots[i] = span.slot(i);
    return slots;
  }
}
