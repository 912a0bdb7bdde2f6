package dev.kvasir.bench;

import dev.kvasir.kv.Block;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.evict.Eviction;
import dev.kvasir.kv.evict.FrequencySketch;
import dev.kvasir.kv.evict.policy.EndedRequest;
import dev.kvasir.kv.evict.policy.ReturnHint;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.BlockNames;
import dev.kvasir.kv.name.TokenBlock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/** A pool and chains of blocks for it, twice as many as it has room for. */
final class BenchPool {
  private static final int OUTPUT_TOKENS = 100;

  private final BlockPool pool;
  private final List<List<TokenBlock>> contents = new ArrayList<>();
  private final List<List<BlockHash>> hashes = new ArrayList<>();
  private List<Block.Registered> matched = List.of();

  BenchPool(int blocks, int length, String eviction, SplittableRandom random) {
    var sketch = new FrequencySketch(blocks);
    boolean counted = eviction.equals("multi-lru");
    var registry = counted ? new PrefixRegistry(sketch) : new PrefixRegistry();
    var settings = PoolSettings.of(Tier.DEVICE, blocks, 4).with(Eviction.named(eviction, sketch));
    this.pool = new BlockPool(settings, registry, new KvEvents());
    for (int chain = 0; chain < 2 * (blocks / length); chain++) {
      contents.add(chain(length, random));
      hashes.add(contents.get(chain).stream().map(TokenBlock::hash).toList());
    }
  }

  /** Returns the number of chains. */
  int chains() {
    return contents.size();
  }

  /** Holds the chain; found blocks are kept until {@link #releaseMatched}. */
  void match(int chain) {
    matched = pool.match(hashes.get(chain));
  }

  void releaseMatched() {
    pool.release(matched);
    matched = List.of();
  }

  /**
   * Takes the chain in. The array is new each time, as a caller's list is: in one that has grown
   * old, each handle stored would cost a barrier of the collector's, which is none of the pool's.
   */
  List<Block.Registered> register(int chain) {
    var content = contents.get(chain);
    var blocks = pool.allocate(content.size()).orElseThrow();
    pool.approach(hashes.get(chain));
    var registered = new Block.Registered[content.size()];
    for (int i = 0; i < registered.length; i++) {
      registered[i] = blocks.get(i).receive(content.get(i));
    }
    return Arrays.asList(registered);
  }

  void release(List<Block.Registered> blocks) {
    pool.release(blocks);
  }

  /** The whole life of a chain: taken in, told of when its request ends, and released. */
  void live(int chain) {
    var held = register(chain);
    var names = new ChainNames(contents.get(chain));
    pool.ended(new EndedRequest(names, held.size(), held.size(), OUTPUT_TOKENS, ReturnHint.NONE));
    pool.release(held);
  }

  /** The blocks of a chain by their place. */
  private record ChainNames(List<TokenBlock> blocks) implements BlockNames {
    @Override
    public BlockHash name(int index) {
      return blocks.get(index).hash();
    }

    @Override
    public TokenBlock block(int index) {
      return blocks.get(index);
    }
  }

  private static List<TokenBlock> chain(int length, SplittableRandom random) {
    var chain = new ArrayList<TokenBlock>(length);
    for (int i = 0; i < length; i++) {
      var hash =
          new BlockHash(random.nextLong(), random.nextLong(), random.nextLong(), random.nextLong());
      chain.add(TokenBlock.named(hash, i == 0 ? null : chain.get(i - 1).hash(), i));
    }
    return chain;
  }
}
