package dev.kvasir.router.limit;

import java.time.Duration;

/**
 * Reason why a request is not served.
 *
 * @param message for people
 * @param retryAfter when to try again; zero where that would not help
 */
public record Refusal(Kind kind, String message, Duration retryAfter) {
  /** Kind of a refusal; what a program does about the refusal depends on it. */
  public enum Kind {
    /** Too many requests of its key are under way. */
    TOO_MANY_CONCURRENT,
    /** Its key has used up its requests or tokens of the minute. */
    RATE_LIMITED,
    /** The admission policy rejects it. */
    NOT_ADMITTED,
    QUEUE_FULL,
    /** Its turn would come, or did not come, in time for its target or its patience. */
    LATE,
    /** It waited too long in the queue. */
    QUEUE_TIMEOUT,
    /** No worker serves its model. */
    UNKNOWN_MODEL,
    /** No worker can take it now. */
    NO_WORKER,
    /** The workers that were tried have failed. */
    FAILED
  }

  public static Refusal of(Kind kind, String message) {
    return new Refusal(kind, message, Duration.ZERO);
  }
}
