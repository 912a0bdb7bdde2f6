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
  /** It says that it failed. */
  ERROR;

  /** The failure that a status stands for; null for statuses that are an answer. */
  static @Nullable Failure of(int status) {
    return switch (status) {
      case 429, 503 -> BUSY;
      case 500, 502, 504 -> ERROR;
      default -> null;
    };
  }

  /** Whether it speaks against the worker, rather than against the moment. */
  boolean isItsFault() {
    return this != BUSY;
  }
}
