package dev.kvasir.gateway.journal;

import java.util.Locale;

/** Outcome of a request, for the one who sent it. */
public enum Outcome {
  /** It was answered in full, well or not. */
  COMPLETE,
  /** It was answered with an error of the gateway, before anything else. */
  REFUSED,
  /** The answer had begun and could not be finished, which the caller was told. */
  BROKEN,
  /** The caller left. */
  GONE;

  String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
