package dev.kvasir.engine;

/** How a sequence ended. */
public sealed interface SequenceEnd {
  /** It has all its tokens. */
  record Finished() implements SequenceEnd {}

  /** Whoever asked for it gave it up. */
  record Aborted() implements SequenceEnd {}

  /** The model could not go on with it. */
  record Failed(String reason) implements SequenceEnd {}

  /** It can never be served. */
  record Refused(String reason) implements SequenceEnd {}
}
