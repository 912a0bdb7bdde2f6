package dev.kvasir.kv.evict;

/**
 * What a caller says about the next turn of its conversation.
 *
 * <p>It is evidence and no order: how far it is believed depends on what earlier hints of the same
 * tenant were worth.
 *
 * @param tenant a hash of the tenant's name; 0 where there is none
 */
public record ReturnHint(long tenant, Said said) {
  /** Nothing said, by nobody in particular. */
  public static final ReturnHint NONE = new ReturnHint(0, Said.NOTHING);

  /** The three things that can be said. */
  public enum Said {
    NOTHING(0),
    /** The conversation goes on. */
    RETURNS(1),
    /** This was the last turn. */
    LAST(2);

    private final int code;

    Said(int code) {
      this.code = code;
    }

    /** Its place in tables. */
    int code() {
      return code;
    }
  }
}
