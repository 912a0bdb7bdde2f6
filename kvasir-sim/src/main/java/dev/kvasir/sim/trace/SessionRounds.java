package dev.kvasir.sim.trace;

import java.util.LinkedHashMap;
import java.util.Map;

/** Counts the rounds of sessions for traces that do not. */
final class SessionRounds {
  private final Map<String, Integer> rounds = new LinkedHashMap<>();

  /** 0 for the first request of the session, 1 for the second, and so on. */
  int next(String session) {
    return rounds.merge(session, 1, Integer::sum) - 1;
  }
}
