package dev.kvasir.router.worker;

import java.util.Locale;

/** Ability that a request needs and that not every worker of its model has. */
public enum Need {
  /** Calls of tools, for which an engine needs a parser. */
  TOOLS,
  /** Images, audio or files in the prompt. */
  MEDIA,
  /** A vector or a score instead of an answer. */
  POOLING,
  /** A text of speech. */
  SPEECH;

  /** As metrics and logs call it. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
