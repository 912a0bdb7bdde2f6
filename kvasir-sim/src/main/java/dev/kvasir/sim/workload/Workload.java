package dev.kvasir.sim.workload;

import dev.kvasir.Nullable;
import java.util.Iterator;

/** All requests of a run: those that arrive by themselves, and those that follow an answer. */
public interface Workload {
  /** The next request that comes by itself, in order of arrival; null when no more will come. */
  @Nullable
  Request next();

  /**
   * Returns what the caller asks next, now that this request has been answered; null for nothing
   * more.
   *
   * @param nanos when it was answered; the next request arrives no sooner
   */
  @Nullable
  Request after(Request answered, long nanos);

  /** Returns whether all requests come by themselves. */
  default boolean isOpen() {
    return false;
  }

  /** Returns whether every request is known to belong to no session. */
  default boolean isWithoutSessions() {
    return false;
  }

  /** An open loop: requests come when they come, whatever happens to those before them. */
  static Workload open(Iterator<Request> requests) {
    return new OpenLoop(requests);
  }
}
