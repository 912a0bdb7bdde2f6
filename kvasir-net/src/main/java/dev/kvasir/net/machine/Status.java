package dev.kvasir.net.machine;

import java.util.Locale;

/** Outcome of a check. */
public enum Status {
  /** As it should be. */
  OK,
  /** Worth knowing; Kvasir runs all the same. */
  NOTE,
  /** Something that Kvasir needs is not there. */
  MISSING;

  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
