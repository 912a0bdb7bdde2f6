package dev.kvasir.offload.pipeline;

/** Outcome of one block of a transfer. */
public sealed interface BlockOutcome {
  /** It waited for longer than it may. */
  BlockOutcome PAST_DEADLINE = new Failed("deadline passed before the transfer");

  /** It is registered on the tier below. */
  record Completed() implements BlockOutcome {}

  /** It could not be moved, and is not registered below. */
  record Failed(String reason) implements BlockOutcome {}

  /** It was gone from its tier before its turn came. */
  record Evicted() implements BlockOutcome {}

  /** A policy found it not worth moving. */
  record Filtered(String reason) implements BlockOutcome {}

  /** The transfer was cancelled before its turn came. */
  record Cancelled() implements BlockOutcome {}

  Completed COMPLETED = new Completed();
}
