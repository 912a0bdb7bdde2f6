package dev.kvasir.embedded.step;

/** End of an answer. */
public sealed interface GenerationEnd {
  /** The model ended it, or a stop string did. */
  record Stopped() implements GenerationEnd {}

  /** It is as long as it may be. */
  record Full() implements GenerationEnd {}

  /** End of an answer that its caller gave up. */
  record Aborted() implements GenerationEnd {}

  /** It can never be served, or not now. */
  record Refused(String reason) implements GenerationEnd {}

  /** The model could not go on with it. */
  record Failed(String reason) implements GenerationEnd {}
}
