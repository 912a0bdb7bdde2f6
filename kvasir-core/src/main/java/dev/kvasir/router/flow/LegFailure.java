package dev.kvasir.router.flow;

/** Failure of a leg before anything of its answer reached the caller. */
public enum LegFailure {
  /** The worker took no connection. */
  UNREACHABLE,
  /** The connection ended before the answer did. */
  CUT,
  /** The worker was silent for too long. */
  STALLED,
  /** The worker says that it cannot take the request now. */
  BUSY,
  /** The worker says that the request is wrong. */
  REFUSED,
  /** The worker says no to what it may not be able to do, as calls of tools or a long prompt. */
  UNABLE,
  /** The worker does not have what is asked for: a path, a model, or what it was to remember. */
  ABSENT,
  /** The worker says that it failed. */
  ERROR,
  /** The worker says that this request makes it fail: the others would fail as well. */
  REQUEST_ERROR,
  /** The worker's reply is no answer to a completion, such as a redirection. */
  UNUSABLE;

  /** Returns whether the worker is at fault, rather than the moment or the request. */
  public boolean isWorkersFault() {
    return this != BUSY && this != REFUSED && !isInability();
  }

  /** Returns whether another worker may be able to do it. */
  boolean isInability() {
    return this == UNABLE || this == ABSENT;
  }

  /**
   * Returns whether the worker answered that it failed; what was handed over to it may be the
   * cause.
   */
  boolean isError() {
    return this == ERROR || this == REQUEST_ERROR;
  }
}
