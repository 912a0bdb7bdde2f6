package dev.kvasir.tiers;

import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.offload.store.TierStore;
import java.util.List;
import java.util.function.Consumer;

/**
 * A store on a server of others, for those who know blocks by their hashes alone: what a block
 * follows would be part of its name there, and who looks for it on another machine may not know.
 */
record HashNamedStore(TierStore store) implements TierStore {
  @Override
  public void store(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
    store.store(named(copies), done);
  }

  @Override
  public void load(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
    store.load(named(copies), done);
  }

  private static List<BlockCopy> named(List<BlockCopy> copies) {
    return copies.stream().map(HashNamedStore::named).toList();
  }

  private static BlockCopy named(BlockCopy copy) {
    var block = TokenBlock.named(copy.block().hash(), null, 0);
    return new BlockCopy(block, copy.above(), copy.below());
  }
}
