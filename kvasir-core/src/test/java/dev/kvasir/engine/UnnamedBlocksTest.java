package dev.kvasir.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Seeds;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PooledKv;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.evict.Eviction;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.BlockNames;
import dev.kvasir.kv.name.TokenBlock;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/** Blocks that nobody else asks for are kept without names, and no step shows it. */
class UnnamedBlocksTest {
  private static final int BLOCK_TOKENS = 4;

  /** The same names, of which only those of the family are said to be asked for by others. */
  private record Own(TestNames names) implements BlockNames {
    @Override
    public BlockHash name(int index) {
      return names.name(index);
    }

    @Override
    public TokenBlock block(int index) {
      return names.block(index);
    }

    @Override
    public int shareable() {
      return names.shared();
    }
  }

  /** A scheduler on a pool of its own, and what it is asked. */
  private static final class Side {
    private final BlockPool pool;
    private final Scheduler scheduler;
    private final List<Sequence> underWay = new ArrayList<>();

    Side(int blocks) {
      var settings = PoolSettings.of(Tier.DEVICE, blocks, BLOCK_TOKENS).with(Eviction.lineage());
      pool = new BlockPool(settings, new PrefixRegistry(), new KvEvents());
      scheduler = new Scheduler(new PooledKv(pool), EngineSettings.DEFAULT, () -> {});
    }

    void add(int id, BlockNames names, int prompt, int output) {
      var request = new SequenceRequest("s" + id, names, prompt, output, 0, id);
      if (scheduler.refusal(request) == null) underWay.add(scheduler.add(request));
    }

    void abort(int index) {
      scheduler.remove(underWay.remove(index));
    }

    /** One step; what it did, and what the memory looks like then. */
    List<Object> step() {
      var batch = scheduler.schedule();
      var shape = new ArrayList<Object>();
      for (var part : batch.parts()) {
        shape.add(List.of(part.sequence().request().id(), part.start(), part.tokens()));
      }
      for (var sequence : batch.preempted()) shape.add("preempted " + sequence.request().id());
      shape.add(List.of(batch.joined(), batch.decodes(), batch.decodeContextTokens()));
      if (!batch.isEmpty()) {
        scheduler.start(batch);
        for (var sequence : scheduler.complete(batch).ended()) {
          underWay.remove(sequence);
          scheduler.remove(sequence);
        }
      }
      assertThat(pool.free() + pool.countHeld() + pool.cached()).isEqualTo(pool.total());
      shape.add(List.of(pool.free(), pool.held(), pool.cached()));
      var stats = pool.stats();
      shape.add(List.of(stats.allocated(), stats.evicted(), stats.registered()));
      return shape;
    }
  }

  @Test
  void noStepShowsWhetherBlocksThatNobodyElseAsksForHaveNames() {
    var preempted = new long[1];
    var evicted = new long[1];
    Seeds.each(
        200,
        random -> {
          int blocks = 8 + random.nextInt(60);
          var named = new Side(blocks);
          var unnamed = new Side(blocks);
          for (int step = 0; step < 400; step++) {
            if (random.nextInt(3) == 0) request(random, step, named, unnamed);
            if (random.nextInt(40) == 0 && !named.underWay.isEmpty()) {
              int index = random.nextInt(named.underWay.size());
              named.abort(index);
              unnamed.abort(index);
            }
            assertThat(unnamed.step()).isEqualTo(named.step());
          }
          preempted[0] += unnamed.scheduler.preemptions();
          evicted[0] += unnamed.pool.stats().evicted();
          assertThat(unnamed.pool.clear()).isEqualTo(named.pool.clear());
          assertThat(unnamed.pool.free()).isEqualTo(named.pool.free());
        });
    assertThat(preempted[0]).isPositive();
    assertThat(evicted[0]).isPositive();
  }

  private static void request(RandomGenerator random, int id, Side named, Side unnamed) {
    var names = new TestNames(random.nextInt(3), random.nextInt(4), id);
    int prompt = 1 + random.nextInt(60);
    int output = 1 + random.nextInt(40);
    named.add(id, names, prompt, output);
    unnamed.add(id, new Own(names), prompt, output);
  }
}
