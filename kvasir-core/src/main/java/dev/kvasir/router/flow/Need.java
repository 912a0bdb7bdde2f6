package dev.kvasir.router.flow;

import java.util.Locale;

/** What a request asks for that not every worker of its model can do. */
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
