package dev.kvasir.gateway.journal;

import dev.kvasir.Nullable;
import dev.kvasir.net.auth.Caller;
import dev.kvasir.router.view.SloClass;

/**
 * Details that are written down of a request besides its route and its end.
 *
 * @param id ID by which logs and workers know it
 * @param path path to which it was sent
 * @param model empty where it names none
 * @param session a hash of whom it belongs to, tenant included; empty for nobody
 * @param receivedNanos when its head came, on the clock of the router's loop
 * @param trace its position among what its caller does; null where no traces are kept
 */
public record RequestDetails(
    String id,
    String path,
    Caller caller,
    String model,
    String session,
    SloClass sloClass,
    PromptNames names,
    long receivedNanos,
    @Nullable TraceMark trace) {
  /** Those of a request of which only the head has been read. */
  public static RequestDetails of(String id, String path, Caller caller, long receivedNanos) {
    return new RequestDetails(
        id, path, caller, "", "", SloClass.STANDARD, PromptNames.NONE, receivedNanos, null);
  }

  /** These, with the names of its prompt. */
  public RequestDetails with(PromptNames other) {
    return new RequestDetails(
        id, path, caller, model, session, sloClass, other, receivedNanos, trace);
  }
}
