package dev.kvasir.router.view;

/** Readiness of an instance to be sent requests. */
public enum Availability {
  READY,
  /** It ends what it has, and gets nothing new. */
  DRAINING,
  /** It does not answer, or not well. */
  DOWN
}
