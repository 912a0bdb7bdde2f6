package dev.kvasir.bench;

import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.net.LiveLoop;
import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.tiers.host.HostMemory;
import dev.kvasir.tiers.shared.SharedStore;
import dev.kvasir.time.EventLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Consumer;

/** A shared tier as the pipeline uses it: one call with many blocks, answered on a loop. */
final class SharedTrial implements SharedTierBench.Trial {
  private final String name;
  private final int blocks;
  private final HostMemory above;
  private final LiveLoop loop = new LiveLoop("shared tier bench");
  private final SharedStore store;
  private final Runnable clear;
  private List<BlockCopy> copies = new ArrayList<>();
  private long next = System.nanoTime();

  SharedTrial(
      String name,
      int blocks,
      int blockBytes,
      BiFunction<EventLoop, HostMemory, SharedStore> open,
      Runnable clear) {
    this.name = name;
    this.blocks = blocks;
    this.above = new HostMemory("above", blocks, blockBytes);
    this.store = open.apply(loop, above);
    this.clear = clear;
    for (int i = 0; i < blocks; i++) above.slot(i).fill((byte) i);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public void clear() {
    clear.run();
  }

  @Override
  public double store() {
    copies = new ArrayList<>();
    for (int i = 0; i < blocks; i++) {
      long key = next++;
      var hash = new BlockHash(key, key * 31, key * 1_000_003, ~key);
      copies.add(new BlockCopy(TokenBlock.named(hash, null, 0), i, i));
    }
    return timed(done -> store.store(copies, done));
  }

  @Override
  public double load() {
    return timed(done -> store.load(copies, done));
  }

  private double timed(Consumer<Consumer<List<CopyOutcome>>> call) {
    var done = new CompletableFuture<List<CopyOutcome>>();
    long start = System.nanoTime();
    loop.execute(() -> call.accept(done::complete));
    var outcomes = done.join();
    long nanos = System.nanoTime() - start;
    for (var outcome : outcomes) {
      if (!(outcome instanceof CopyOutcome.Copied)) throw new IllegalStateException("" + outcome);
    }
    return (double) outcomes.size() * above.blockBytes() / nanos;
  }

  @Override
  public void close() {
    store.close();
    loop.close();
    above.close();
  }
}
