package dev.kvasir.kv.evict.policy;

import java.time.Duration;

/**
 * Statement of a caller about the next turn of its conversation.
 *
 * <p>A hint is evidence, not a command: its weight depends on how good earlier hints of the same
 * tenant were.
 *
 * @param tenant a hash of the tenant's name; 0 where there is none
 * @param pinSeconds the time for which the blocks are to be kept before others, as far as pools
 *     allow that; 0 for no such request
 */
public record ReturnHint(long tenant, Expectation expectation, int pinSeconds) {
  /** The longest time for which blocks can be pinned: a day. */
  public static final int PIN_SECONDS_MAX = 86_400;

  /** Nothing said, by nobody in particular. */
  public static final ReturnHint NONE = new ReturnHint(0, Expectation.NOTHING);

  public ReturnHint {
    if (pinSeconds < 0 || pinSeconds > PIN_SECONDS_MAX) {
      throw new IllegalArgumentException("a pin of " + pinSeconds + " s");
    }
  }

  /** A hint without a pin. */
  public ReturnHint(long tenant, Expectation expectation) {
    this(tenant, expectation, 0);
  }

  public long pinNanos() {
    return Duration.ofSeconds(pinSeconds).toNanos();
  }

  /** Expectation of the caller about the next turn. */
  public enum Expectation {
    NOTHING(0),
    /** The conversation goes on. */
    RETURNS(1),
    /** This was the last turn. */
    LAST(2);

    private final int code;

    Expectation(int code) {
      this.code = code;
    }

    /** Its place in tables. */
    public int code() {
      return code;
    }
  }
}
