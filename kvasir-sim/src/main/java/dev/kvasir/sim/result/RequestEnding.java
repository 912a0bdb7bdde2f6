package dev.kvasir.sim.result;

/** Way in which a simulated request ended, if it did. */
public enum RequestEnding {
  /** It got all its tokens. */
  COMPLETED,
  /** It got as many tokens as the context has room for. */
  LENGTH_CAPPED,
  /** Its caller gave up before. */
  TIMED_OUT,
  /** No engine could ever have served it. */
  DROPPED,
  /** Admission turned it away, or the queue or a limit did. */
  REJECTED,
  /** Its worker died, and no other answered it. */
  FAILED,
  /** The run was over before it was. */
  UNFINISHED
}
