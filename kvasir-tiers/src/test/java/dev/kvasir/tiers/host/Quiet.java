package dev.kvasir.tiers.host;

import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;

/** Keeps what the stores warn of out of the output of tests that damage them on purpose. */
public final class Quiet {
  /** Held, for a logger that nobody holds forgets its level. */
  private static final List<Logger> LOGGERS =
      Stream.of("dev.kvasir.tiers.host", "redis.clients", "software.amazon", "org.apache.hc")
          .map(Logger::getLogger)
          .toList();

  private Quiet() {}

  public static void please() {
    for (var logger : LOGGERS) logger.setLevel(Level.OFF);
  }
}
