package dev.kvasir.offload;

/** What became of one copy. */
public sealed interface CopyOutcome {
  /** The bytes are there, and are those of the block. */
  record Copied() implements CopyOutcome {}

  /** The slot does not hold the block's exact bytes, and will not: it is a miss from now on. */
  record Damaged(String reason) implements CopyOutcome {}

  /** The copy could not be made this time. */
  record Failed(String reason) implements CopyOutcome {}

  Copied COPIED = new Copied();
}
