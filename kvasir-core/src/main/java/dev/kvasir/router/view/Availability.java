package dev.kvasir.router.view;

/** Whether an instance may be sent requests. */
public enum Availability {
  READY,
  /** It ends what it has, and gets nothing new. */
  DRAINING,
  /** It does not answer, or not well. */
  DOWN
}
