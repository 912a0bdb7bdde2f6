package dev.kvasir.live.engine.step;

/** How an answer ended. */
public sealed interface GenerationEnd {
  /** The model ended it, or a stop string did. */
  record Stopped() implements GenerationEnd {}

  /** It is as long as it may be. */
  record Full() implements GenerationEnd {}

  /** Whoever asked for it gave it up. */
  record Aborted() implements GenerationEnd {}

  /** It can never be served, or not now. */
  record Refused(String reason) implements GenerationEnd {}

  /** The model could not go on with it. */
  record Failed(String reason) implements GenerationEnd {}
}
