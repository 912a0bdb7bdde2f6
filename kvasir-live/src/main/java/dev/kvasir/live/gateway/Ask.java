package dev.kvasir.live.gateway;

import dev.kvasir.Nullable;
import dev.kvasir.live.http.Caller;

/**
 * A request to be placed.
 *
 * @param id by which logs and workers know it
 * @param path where it was sent
 * @param model empty where it names none
 * @param session a hash of whom it belongs to, tenant included; empty for nobody
 * @param splittable whether one worker can prefill it for another
 * @param receivedNanos when its head came, on the clock of the router's loop
 * @param trace where it stands among what its caller does; null where no traces are kept
 */
record Ask(
    String id,
    String path,
    Caller caller,
    String model,
    String session,
    PromptNames names,
    boolean splittable,
    long receivedNanos,
    @Nullable TraceMark trace) {
  /** This one, with the names of its prompt. */
  Ask with(PromptNames other) {
    return new Ask(id, path, caller, model, session, other, splittable, receivedNanos, trace);
  }
}
