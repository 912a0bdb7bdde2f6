package dev.kvasir.kv.name;

import dev.kvasir.kv.Block;
import dev.kvasir.kv.BlockPool;
import java.util.ArrayList;
import java.util.List;

/** Blocks with made-up names, for tests that care who is whose parent and not for tokens. */
public final class Chains {
  private Chains() {}

  /** A chain of that many blocks; another name gives other hashes. */
  public static List<TokenBlock> chain(int name, int length) {
    return fork(List.of(), name, length);
  }

  /** A chain that goes on from the last block of the trunk. */
  public static List<TokenBlock> fork(List<TokenBlock> trunk, int name, int length) {
    var chain = new ArrayList<TokenBlock>();
    for (int i = 0; i < length; i++) {
      var parent = i > 0 ? chain.getLast() : trunk.isEmpty() ? null : trunk.getLast();
      int position = trunk.size() + i;
      chain.add(
          TokenBlock.named(hash(name, position), parent == null ? null : parent.hash(), position));
    }
    return chain;
  }

  public static BlockHash hash(int name, int position) {
    long mixed = mix(name * 1_000_003L + position);
    return new BlockHash(mixed, mix(mixed), mix(mixed + 1), mix(mixed + 2));
  }

  public static List<BlockHash> hashes(List<TokenBlock> blocks) {
    return blocks.stream().map(TokenBlock::hash).toList();
  }

  /** The blocks of a chain by their place. */
  public static BlockNames names(List<TokenBlock> blocks) {
    return new BlockNames() {
      @Override
      public BlockHash name(int index) {
        return blocks.get(index).hash();
      }

      @Override
      public TokenBlock block(int index) {
        return blocks.get(index);
      }
    };
  }

  /** Takes the blocks through a pool, in order, and leaves them held. */
  public static List<Block.Registered> register(BlockPool pool, List<TokenBlock> contents) {
    var blocks = pool.allocate(contents.size()).orElseThrow();
    var registered = new ArrayList<Block.Registered>();
    for (int i = 0; i < contents.size(); i++) {
      registered.add(blocks.get(i).receive(contents.get(i)));
    }
    return registered;
  }

  private static long mix(long value) {
    long z = (value + 0x9e3779b97f4a7c15L) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 30)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }
}
