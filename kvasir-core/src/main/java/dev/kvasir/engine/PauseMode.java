package dev.kvasir.engine;

/** What becomes of an engine's work when it is paused. */
public enum PauseMode {
  /** All of it is given up, and new work is refused. */
  ABORT,
  /** It goes on to its end, and new work is refused. */
  WAIT,
  /** It stands still and keeps its blocks; new work waits. */
  KEEP
}
