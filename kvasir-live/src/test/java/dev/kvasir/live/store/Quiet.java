package dev.kvasir.live.store;

import java.util.logging.Level;
import java.util.logging.Logger;

/** Keeps what the stores warn of out of the output of tests that damage them on purpose. */
public final class Quiet {
  /** Held, for a logger that nobody holds forgets its level. */
  private static final Logger LOGGER = Logger.getLogger("dev.kvasir.live.store");

  private Quiet() {}

  public static void please() {
    LOGGER.setLevel(Level.OFF);
  }
}
