package dev.kvasir.gateway.request;

import dev.kvasir.Nullable;
import dev.kvasir.router.flow.LegFailure;

/** Meaning of the status of a worker's answer for its leg. */
final class AnswerStatus {
  private AnswerStatus() {}

  /** The failure that a status stands for; null for statuses that are an answer. */
  static @Nullable LegFailure failure(int status) {
    if (status < 200 || status > 599 || (status >= 300 && status < 400)) return LegFailure.UNUSABLE;
    return switch (status) {
      case 400, 405, 422, 501 -> LegFailure.UNABLE;
      case 404 -> LegFailure.ABSENT;
      case 429, 503 -> LegFailure.BUSY;
      case 500 -> LegFailure.REQUEST_ERROR;
      case 502, 504 -> LegFailure.ERROR;
      default -> null;
    };
  }

  /** Returns whether the worker has too much to do. */
  static boolean isBusy(int status) {
    return failure(status) == LegFailure.BUSY;
  }

  /** The failure of a prefill that was answered with this status, and not as it should be. */
  static LegFailure prefillFailure(int status) {
    if (status >= 400 && status < 500 && status != 429) return LegFailure.REFUSED;
    var failure = failure(status);
    return failure == null || failure == LegFailure.UNABLE ? LegFailure.ERROR : failure;
  }
}
