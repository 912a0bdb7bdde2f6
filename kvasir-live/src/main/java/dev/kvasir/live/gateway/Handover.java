package dev.kvasir.live.gateway;

/**
 * What a worker has prefilled and keeps for whoever decodes.
 *
 * @param holder who has it
 * @param params what the other is to be told
 * @param untilNanos how long it is kept, on the clock of the machine
 */
record Handover(Worker holder, String params, long untilNanos) {
  /** Whether the worker can fetch it; its holder cannot, and finds it in its own cache. */
  boolean serves(Worker decoder) {
    return System.nanoTime() < untilNanos
        && decoder.connector() == holder.connector()
        && !decoder.equals(holder);
  }
}
