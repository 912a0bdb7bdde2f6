package dev.kvasir.tiers.shared;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.offload.store.CopyOutcome.Copied;
import dev.kvasir.offload.store.CopyOutcome.Damaged;
import dev.kvasir.offload.store.CopyOutcome.Failed;
import dev.kvasir.offload.store.TierStore;
import dev.kvasir.tiers.host.Caller;
import dev.kvasir.tiers.host.HostMemory;
import dev.kvasir.tiers.host.TestBlocks;
import dev.kvasir.time.EventLoop;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.stream.LongStream;

/** A shared store with memory above it and a loop, for tests; bytes are checked as they come. */
public final class SharedShelf implements AutoCloseable {
  public final Caller caller = new Caller();
  public final HostMemory above;
  public final SharedStore store;

  /** The store as it is called; a test may put a breaker in between. */
  public TierStore called;

  public SharedShelf(
      int slots, int blockBytes, BiFunction<EventLoop, HostMemory, SharedStore> open) {
    this.above = new HostMemory("above", slots, blockBytes);
    this.store = open.apply(caller.loop, above);
    this.called = store;
  }

  /** Counts of copies by their outcome; what another is sending counts as skipped. */
  public record Tally(int copied, int damaged, int failed, int skipped) {
    public Tally(int copied, int damaged, int failed) {
      this(copied, damaged, failed, 0);
    }

    public static Tally of(List<CopyOutcome> outcomes) {
      int copied = 0;
      int damaged = 0;
      int failed = 0;
      int skipped = 0;
      for (var outcome : outcomes) {
        switch (outcome) {
          case Copied _ -> copied++;
          case Damaged _ -> damaged++;
          case Failed _, CopyOutcome.Refused _ -> failed++;
          case CopyOutcome.Busy _ -> skipped++;
        }
      }
      return new Tally(copied, damaged, failed, skipped);
    }
  }

  public static List<Long> keys(long from, long to) {
    return LongStream.range(from, to).boxed().toList();
  }

  /** Stores the blocks, as many at a time as fit above. */
  public List<CopyOutcome> store(List<Long> keys) {
    var outcomes = new ArrayList<CopyOutcome>();
    for (int from = 0; from < keys.size(); from += above.blocks()) {
      var part = keys.subList(from, Math.min(keys.size(), from + above.blocks()));
      for (int i = 0; i < part.size(); i++) TestBlocks.fill(above.slot(i), part.get(i), 1);
      outcomes.addAll(caller.store(called, copies(part)));
    }
    return outcomes;
  }

  /** Loads the blocks and checks the bytes of all that were copied, and of no others. */
  public List<CopyOutcome> load(List<Long> keys) {
    var outcomes = new ArrayList<CopyOutcome>();
    for (int from = 0; from < keys.size(); from += above.blocks()) {
      var part = keys.subList(from, Math.min(keys.size(), from + above.blocks()));
      for (int i = 0; i < part.size(); i++) above.slot(i).fill((byte) 0xee);
      var some = caller.load(called, copies(part));
      for (int i = 0; i < part.size(); i++) {
        if (some.get(i) instanceof Copied) {
          assertThat(TestBlocks.check(above.slot(i), part.get(i))).isEqualTo(1);
        } else {
          assertThat(above.slot(i).get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 0xee);
        }
      }
      outcomes.addAll(some);
    }
    return outcomes;
  }

  public void assertStores(List<Long> keys) {
    assertThat(Tally.of(store(keys))).isEqualTo(new Tally(keys.size(), 0, 0));
  }

  public void assertLoads(List<Long> keys) {
    assertThat(Tally.of(load(keys))).isEqualTo(new Tally(keys.size(), 0, 0));
  }

  public List<Presence> look(List<TokenBlock> blocks) {
    var answer = new CompletableFuture<List<Presence>>();
    caller.loop.execute(() -> store.look(blocks, answer::complete));
    return Caller.await(answer);
  }

  private static List<BlockCopy> copies(List<Long> keys) {
    var copies = new ArrayList<BlockCopy>();
    for (var key : keys) {
      copies.add(new BlockCopy(TestBlocks.block(key), copies.size(), copies.size()));
    }
    return copies;
  }

  @Override
  public void close() {
    store.close();
    caller.close();
    above.close();
  }
}
