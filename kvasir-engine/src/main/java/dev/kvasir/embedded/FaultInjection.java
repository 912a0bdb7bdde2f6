package dev.kvasir.embedded;

/** Decides what goes wrong with an answer, so that others can be tested. */
public interface FaultInjection {
  /** An engine that always does what it should. */
  FaultInjection NONE = () -> Fault.NONE;

  /** Kind of fault of an answer. */
  enum Kind {
    NOTHING,
    /** The connection is reset. */
    RESET,
    /** The connection ends in the middle of the answer, as if it were all. */
    TRUNCATE,
    /** Nothing more comes, and the connection stays. */
    STALL,
    /** An event in the stream says that something went wrong. */
    ERROR,
    /** Instead of an answer there is an error. */
    REFUSE
  }

  /**
   * A fault of one answer.
   *
   * @param afterPieces how many pieces come before it
   */
  record Fault(Kind kind, int afterPieces) {
    public static final Fault NONE = new Fault(Kind.NOTHING, 0);

    public Fault {
      if (afterPieces < 0) throw new IllegalArgumentException("after " + afterPieces + " pieces");
    }
  }

  /** The fault of the next answer; asked from any thread. */
  Fault next();
}
