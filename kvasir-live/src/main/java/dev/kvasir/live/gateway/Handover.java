package dev.kvasir.live.gateway;

/**
 * What a worker has prefilled and keeps for whoever decodes.
 *
 * @param params what the other is to be told
 * @param untilNanos how long it is kept, on the clock of the machine
 */
record Handover(String params, long untilNanos) {
  boolean isKept() {
    return System.nanoTime() < untilNanos;
  }
}
