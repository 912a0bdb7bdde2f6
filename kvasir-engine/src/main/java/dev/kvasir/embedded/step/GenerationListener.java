package dev.kvasir.embedded.step;

/** Hears an answer as it grows, on the engine's loop. */
public interface GenerationListener {
  /** The answer has one more token. */
  void grown(Generation generation, Piece piece);

  /** The answer is over; nothing more is heard of it. */
  void ended(Generation generation, GenerationEnd end);
}
