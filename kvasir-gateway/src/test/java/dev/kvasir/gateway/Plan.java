package dev.kvasir.gateway;

import java.util.concurrent.atomic.AtomicLong;
import tools.jackson.databind.JsonNode;

/**
 * Plan of a scripted worker for a request, as the request itself states it.
 *
 * @param fault where it goes wrong
 * @param break_ how the connection ends then
 * @param skip how many attempts go well before one goes wrong
 * @param times how many attempts go wrong then
 * @param tokens how long the whole answer is
 * @param after how many events come before the fault
 * @param seed of the pieces into which the bytes are cut
 */
record Plan(Fault fault, Break break_, int skip, int times, int tokens, int after, long seed) {
  /** Points at which an answer goes wrong. */
  enum Fault {
    NONE,
    BEFORE_HEAD,
    AFTER_HEAD,
    AFTER_EVENTS,
    IN_CHARACTER,
    BEFORE_DONE,
    /** The end of the connection is the end of the answer, and comes too soon. */
    UNDELIMITED,
    BUSY,
    ERROR,
    ERROR_EVENT
  }

  /** Ways in which a connection ends. */
  enum Break {
    FIN,
    RST,
    STALL
  }

  static final Plan GOOD = new Plan(Fault.NONE, Break.FIN, 0, 0, 8, 0, 1);

  private static final AtomicLong SEEDS = new AtomicLong(1_000_000);

  /** A plan with a seed of its own, that goes wrong so many times after so many events. */
  static Plan failing(Fault fault, Break break_, int times, int after) {
    return new Plan(fault, break_, 0, times, 8, after, SEEDS.incrementAndGet());
  }

  static Plan of(JsonNode body) {
    var plan = body.path("plan");
    if (plan.isMissingNode()) return GOOD;
    return new Plan(
        Fault.valueOf(plan.path("fault").asString()),
        Break.valueOf(plan.path("break").asString()),
        plan.path("skip").asInt(),
        plan.path("times").asInt(),
        plan.path("tokens").asInt(),
        plan.path("after").asInt(),
        plan.path("seed").asLong());
  }

  String json() {
    return """
    {"fault":"%s","break":"%s","skip":%d,"times":%d,"tokens":%d,"after":%d,"seed":%d}\
    """
        .formatted(fault, break_, skip, times, tokens, after, seed);
  }

  /** The same, but that some attempts go well first. */
  Plan after(int attempts) {
    return new Plan(fault, break_, attempts, times, tokens, after, seed);
  }

  /** The same without a fault. */
  Plan good() {
    return new Plan(Fault.NONE, break_, 0, 0, tokens, 0, seed);
  }

  boolean goesWell(int attempt) {
    return fault == Fault.NONE || attempt <= skip || attempt > skip + times;
  }

  /** Returns whether the caller must get all of the answer, given that many attempts. */
  boolean canBeSaved(int attempts) {
    return switch (fault) {
      case NONE -> true;
      case BEFORE_HEAD, AFTER_HEAD, BUSY -> times < attempts;
      case AFTER_EVENTS, IN_CHARACTER, UNDELIMITED -> after == 0 && times < attempts;
      case BEFORE_DONE -> false;
      case ERROR, ERROR_EVENT -> times == 0;
    };
  }
}
