package dev.kvasir.engine;

/** Hears how a sequence gets on, on the engine's loop. */
public interface SequenceListener {
  /** It joined the batch, perhaps again. */
  void admitted(Sequence sequence);

  /** It left the batch to make room, and waits again. */
  void preempted(Sequence sequence);

  /** Its prompt is computed and it got a token, for the first time or again. */
  void prefilled(Sequence sequence);

  /** A token of its output is known. Heard only from backends that look at tokens. */
  default void sampled(Sequence sequence, int token) {}

  /** It is over; nothing more is heard of it. */
  void ended(Sequence sequence, Sequence.End end);
}
