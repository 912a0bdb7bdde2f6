package dev.kvasir.live.gateway;

import dev.kvasir.Nullable;

/** What went wrong with a worker, before or while it answered. */
enum Failure {
  /** It took no connection. */
  UNREACHABLE,
  /** The connection ended before the answer did. */
  CUT,
  /** It was silent for too long. */
  STALLED,
  /** It says that it cannot take the request now. */
  BUSY,
  /** It says that the request is wrong. */
  REFUSED,
  /** It says that it failed. */
  ERROR,
  /** What it says is no answer to a completion, such as a redirection. */
  UNUSABLE;

  /** The failure that a status stands for; null for statuses that are an answer. */
  static @Nullable Failure of(int status) {
    if (status < 200 || status > 599 || (status >= 300 && status < 400)) return UNUSABLE;
    return switch (status) {
      case 429, 503 -> BUSY;
      case 500, 502, 504 -> ERROR;
      default -> null;
    };
  }

  /** The failure of a prefill that was answered with this status, and not as it should be. */
  static Failure ofPrefill(int status) {
    var failure = of(status);
    if (failure != null) return failure;
    return status >= 400 && status < 500 ? REFUSED : ERROR;
  }

  /** Whether it speaks against the worker, rather than against the moment or the request. */
  boolean isItsFault() {
    return this != BUSY && this != REFUSED;
  }
}
