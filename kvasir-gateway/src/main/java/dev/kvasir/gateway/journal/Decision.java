package dev.kvasir.gateway.journal;

import dev.kvasir.Nullable;
import dev.kvasir.router.RouteRecord;

/**
 * All that is written down of a request once it is over.
 *
 * @param route null where it was never placed
 * @param decode the name of the worker that answered; empty where none did
 * @param prefill the name of the other one; empty where there was none
 * @param doneNanos when it was over, on the clock of the router's loop
 */
public record Decision(
    RequestDetails request,
    @Nullable RouteRecord route,
    String decode,
    String prefill,
    int attempts,
    Ending ending,
    long doneNanos) {
  /** Until the first token, in seconds; below zero where none came. */
  public double firstTokenSeconds() {
    if (route == null || route.times().firstToken() < 0) return -1;
    return (route.times().firstToken() - request.receivedNanos()) / 1e9;
  }

  /** This one without the names of its prompt's blocks, to be kept for a while. */
  Decision brief() {
    return new Decision(
        request.with(request.names().length()),
        route,
        decode,
        prefill,
        attempts,
        ending,
        doneNanos);
  }

  public double seconds() {
    return (doneNanos - request.receivedNanos()) / 1e9;
  }
}
