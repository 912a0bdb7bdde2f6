package dev.kvasir.engine;

import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.BlockNames;
import dev.kvasir.kv.name.TokenBlock;

/**
 * The blocks of a sequence that begins like all of its family and goes on like nobody else.
 *
 * @param shared how many blocks it has in common with its family
 */
record TestNames(int family, int shared, long own) implements BlockNames {
  @Override
  public BlockHash name(int index) {
    return index < shared
        ? new BlockHash(family, index, 1, 1)
        : new BlockHash(own, index, family, 2);
  }

  @Override
  public TokenBlock block(int index) {
    return TokenBlock.named(name(index), index == 0 ? null : name(index - 1), index);
  }
}
