package dev.kvasir.kv.event;

import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;

/** A change of a block that subscribers may need to know. */
public sealed interface KvEvent {
  /** The block is on the tier now. */
  record Stored(Tier tier, TokenBlock block) implements KvEvent {}

  /** The block is no longer on the tier. */
  record Removed(Tier tier, BlockHash hash) implements KvEvent {}

  /** The subscriber was too slow: these events, by number, were dropped before it read them. */
  record Lost(long first, long count) implements KvEvent {}
}
