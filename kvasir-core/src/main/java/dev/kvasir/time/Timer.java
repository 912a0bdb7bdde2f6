package dev.kvasir.time;

/** A task scheduled on an {@link EventLoop}. */
public interface Timer {
  /** Keeps the task from running, unless it has run already. May be called more than once. */
  void cancel();
}
