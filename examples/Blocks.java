import dev.kvasir.kv.Block;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.Sha256Hasher;
import dev.kvasir.kv.name.TokenSequence;
import java.util.ArrayList;

/** Prompts that begin alike. Run: java -cp kvasir-core/target/classes examples/Blocks.java */
final class Blocks {
  static void main() {
    var settings = PoolSettings.of(Tier.DEVICE, 8, 4); // 8 blocks of 4 tokens each
    var pool = new BlockPool(settings, new PrefixRegistry(), new KvEvents());
    var ours = new Sha256Hasher("some-model, float16", "tenant A");
    serve(pool, ours, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
    serve(pool, ours, 1, 2, 3, 4, 5, 6, 7, 8, 20, 21, 22, 23);
    var theirs = new Sha256Hasher("some-model, float16", "tenant B");
    serve(pool, theirs, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
  }

  static void serve(BlockPool pool, Sha256Hasher hasher, int... prompt) {
    var sequence = new TokenSequence(hasher, pool.blockTokens());
    sequence.extend(prompt);
    var held = new ArrayList<Block>(pool.match(sequence.hashes()));
    int left = prompt.length - held.size() * pool.blockTokens();
    IO.println(prompt.length + " tokens: found " + held.size() + " blocks, compute " + left);
    for (var empty : pool.allocate(Math.ceilDiv(left, pool.blockTokens())).orElseThrow()) {
      var ready = empty.begin().addTokens(Math.min(left, pool.blockTokens()));
      left -= ready.waiting();
      switch (ready.scheduleCompute().computeDone()) { // a model writes K and V in between
        case Block.Complete full -> held.add(full.register(sequence.block(held.size())));
        case Block.Partial tail -> held.add(tail);
      }
    }
    pool.release(held);
    IO.println("  released: " + pool.cached() + " blocks cached, " + pool.free() + " free");
  }
}
