package dev.kvasir.offload.store;

import dev.kvasir.Nullable;
import dev.kvasir.kv.name.TokenBlock;

/** The outcome of one copy. */
public sealed interface CopyOutcome {
  /**
   * The bytes are there, and are those of the block.
   *
   * @param content the block with its tokens, where the store knows them and the caller did not
   */
  record Copied(@Nullable TokenBlock content) implements CopyOutcome {}

  /** The slot does not hold the block's exact bytes: it is a miss from now on. */
  record Damaged(String reason) implements CopyOutcome {}

  /** The copy could not be made this time. */
  record Failed(String reason) implements CopyOutcome {}

  /**
   * Another caller is storing the block there now: it need not be stored again, but is not there
   * yet.
   */
  record Busy(String who) implements CopyOutcome {}

  /** The store did not begin the copy: it has no room, or one of the slots is in use. */
  record Refused(String reason) implements CopyOutcome {}

  Copied COPIED = new Copied(null);
}
