package dev.kvasir.events;

import dev.kvasir.Nullable;
import java.util.List;

/** Change to an engine's blocks, in the engine's own words. */
public sealed interface EngineEvent {
  /**
   * Blocks that follow each other are on the medium now.
   *
   * @param parent the block before the first; null where that begins a sequence
   * @param tokens those of all the blocks; none where the engine only tells where they are
   * @param blockTokens how many tokens a block has; 0 where it tells no tokens
   * @param extraKeys for each block what else its hash was made from; empty where nothing was
   */
  @SuppressWarnings("ArrayRecordComponent") // a million tokens a second should not be boxed
  record Stored(
      List<EngineHash> hashes,
      @Nullable EngineHash parent,
      int[] tokens,
      int blockTokens,
      Adapter adapter,
      Place place,
      List<List<KeyPart>> extraKeys,
      Group group)
      implements EngineEvent {
    public Stored {
      hashes = EngineHashes.copyOf(hashes);
      extraKeys = List.copyOf(extraKeys);
    }
  }

  /** The blocks are no longer on the medium. */
  record Removed(List<EngineHash> hashes, Place place, @Nullable Integer group)
      implements EngineEvent {
    public Removed {
      hashes = EngineHashes.copyOf(hashes);
    }
  }

  /** Nothing is cached any more. */
  record Cleared() implements EngineEvent {}

  /** The LoRA adapter that was in use, if any. */
  record Adapter(@Nullable Long id, @Nullable String name) {
    public static final Adapter NONE = new Adapter(null, null);
  }

  /** Place of blocks; without a named medium it is the engine's memory. */
  record Place(@Nullable String medium, @Nullable String locality) {}

  /** Kind of a model's layers that the blocks belong to, where it has several. */
  record Group(@Nullable Integer index, @Nullable String kind, @Nullable Integer window) {
    public static final Group ONLY = new Group(null, null, null);
  }

  /** Something other than tokens that a block's hash was made from. */
  sealed interface KeyPart {
    /** The name of an adapter, or a tenant's salt. */
    record Text(String text) implements KeyPart {}

    /** An image or the like, and where it begins. */
    record Media(String hash, long offset) implements KeyPart {}

    /** Anything else. */
    record Opaque() implements KeyPart {}
  }
}
