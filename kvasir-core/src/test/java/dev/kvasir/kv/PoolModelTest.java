package dev.kvasir.kv;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Seeds;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.evict.EvictionKind;
import dev.kvasir.kv.evict.FrequencySketch;
import dev.kvasir.kv.evict.ModelOrder;
import dev.kvasir.kv.evict.policy.EndedRequest;
import dev.kvasir.kv.evict.policy.ReturnHint;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.Chains;
import dev.kvasir.kv.name.TokenBlock;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The pool and a model of plain maps do the same, operation by operation. */
class PoolModelTest {
  /** Over the five policies: 1,000,000 operations, 20 times as many in the long profile. */
  private static final int SEEDS = 20;

  private static final int OPERATIONS = 10_000;

  @ParameterizedTest
  @EnumSource
  void poolAndModelAgreeAfterEveryOperation(EvictionKind kind) {
    Seeds.each(
        SEEDS * Seeds.scale(),
        random -> {
          var walk = new Walk(kind, random);
          for (int operation = 0; operation < OPERATIONS; operation++) {
            walk.step();
            walk.compare(operation);
          }
          walk.end();
        });
  }

  /** One random life of a pool, told to the model as well. */
  private static final class Walk {
    private final RandomGenerator random;
    private final PrefixRegistry registry;
    private final BlockPool pool;
    private final ModelPool model;

    /** Another tier with the same registry, where blocks may be known by another account. */
    private final BlockPool below;

    private final List<Block.Registered> heldBelow = new ArrayList<>();
    private final FrequencySketch modelSketch = new FrequencySketch(64);
    private final List<List<TokenBlock>> chains = new ArrayList<>();
    private final Set<BlockHash> hashes = new LinkedHashSet<>();
    private final List<Block.Owned> owned = new ArrayList<>();
    private final List<Block.Registered> held = new ArrayList<>();

    Walk(EvictionKind kind, RandomGenerator random) {
      this.random = random;
      int blocks = 1 + random.nextInt(16);
      var sketch = new FrequencySketch(64);
      var settings =
          new PoolSettings(
              Tier.HOST,
              blocks,
              3,
              one(PoolSettings.Duplicates.values()),
              random.nextInt(4) == 0 ? PoolSettings.Release.RESET : PoolSettings.Release.CACHE,
              kind.eviction(sketch));
      this.registry = new PrefixRegistry(sketch);
      this.pool = new BlockPool(settings, registry, new KvEvents());
      this.model = new ModelPool(settings, modelSketch, ModelOrder.of(kind, blocks, modelSketch));
      this.below =
          new BlockPool(
              PoolSettings.of(Tier.DISK, 1 + random.nextInt(16), 3), registry, new KvEvents());
      var trunk = Chains.chain(0, 4);
      chains.add(trunk);
      for (int name = 1; name < 5; name++) {
        var fork = new ArrayList<>(trunk.subList(0, random.nextInt(4)));
        fork.addAll(Chains.fork(fork, name, 5));
        chains.add(fork);
      }
      for (var chain : chains) hashes.addAll(Chains.hashes(chain));
    }

    void step() {
      switch (random.nextInt(12)) {
        case 0, 1, 2 -> allocate();
        case 3, 4, 5 -> advance();
        case 6, 7 -> match();
        case 8 -> {
          scattered();
          move();
        }
        case 9 -> {
          below();
          release();
        }
        case 10 -> {
          ended();
          release();
        }
        case 11 -> rare();
        default -> throw new IllegalStateException();
      }
    }

    private void allocate() {
      int count = random.nextInt(1 + pool.total() / 3);
      var expected = model.allocate(count);
      var blocks = pool.allocate(count);
      assertThat(blocks.isPresent()).isEqualTo(expected.size() == count);
      blocks.ifPresent(
          list -> {
            assertThat(list).extracting(Block::id).isEqualTo(expected);
            owned.addAll(list);
          });
    }

    /** One transition of one owned block. */
    private void advance() {
      if (owned.isEmpty()) return;
      var block = owned.remove(random.nextInt(owned.size()));
      switch (block) {
        case Block.Empty empty when random.nextBoolean() -> {
          var content = account(one(one(chains)));
          int expected = model.register(empty.id(), content);
          hold(empty.receive(content), expected);
        }
        case Block.Empty empty -> owned.add(empty.begin());
        case Block.Partial partial ->
            owned.add(partial.addTokens(1 + random.nextInt(partial.space())));
        case Block.Ready ready ->
            owned.add(random.nextInt(4) == 0 ? ready.cancelSchedule() : ready.scheduleCompute());
        case Block.Inflight inflight -> {
          switch (inflight.computeDone()) {
            case Block.Partial partial -> owned.add(partial);
            case Block.Complete complete -> owned.add(complete);
          }
        }
        case Block.Complete complete -> {
          var content = account(one(one(chains)));
          int expected = model.register(complete.id(), content);
          hold(complete.register(content), expected);
        }
      }
    }

    private void hold(Block.Registered registered, int expected) {
      assertThat(registered.id()).isEqualTo(expected);
      held.add(registered);
    }

    private void match() {
      var hashes = Chains.hashes(one(chains));
      var found = pool.match(hashes);
      assertThat(found).extracting(Block::id).isEqualTo(model.match(hashes));
      held.addAll(found);
    }

    private void scattered() {
      var hashes = List.of(one(one(chains)).hash(), one(one(chains)).hash());
      var found = pool.matchScattered(hashes);
      for (int i = 0; i < hashes.size(); i++) {
        int expected = model.hold(hashes.get(i));
        assertThat(found.get(i).map(Block::id).orElse(ModelOrder.NONE)).isEqualTo(expected);
        found.get(i).ifPresent(held::add);
      }
    }

    /** A block is taken up by its name, or comes from another tier: neither is a use of it. */
    private void move() {
      var content = account(one(one(chains)));
      if (random.nextBoolean()) {
        var upgraded = new WeakBlock(pool, content.hash()).upgrade();
        int expected = model.pin(content.hash());
        assertThat(upgraded.map(Block::id).orElse(ModelOrder.NONE)).isEqualTo(expected);
        upgraded.ifPresent(held::add);
      } else if (!owned.isEmpty() && owned.getLast() instanceof Block.Empty empty) {
        owned.removeLast();
        hold(empty.receiveMoved(content), model.registerMoved(empty.id(), content));
      }
    }

    /** Names a block by its place, or by its hash alone, or behind another one. */
    private TokenBlock account(TokenBlock block) {
      if (random.nextInt(3) > 0) return block;
      var before = one(one(chains)).hash();
      return random.nextBoolean() || before.equals(block.hash())
          ? TokenBlock.named(block.hash(), null, 0)
          : TokenBlock.named(block.hash(), before, 1);
    }

    /** A block comes to the tier below or leaves it; this pool learns nothing of it. */
    private void below() {
      var empty = below.allocate(1);
      if (empty.isPresent()) {
        modelSketch.age();
        heldBelow.add(empty.get().getFirst().receiveMoved(account(one(one(chains)))));
      }
      if (!heldBelow.isEmpty() && random.nextInt(3) > 0) {
        heldBelow.remove(random.nextInt(heldBelow.size())).release();
      }
    }

    private void release() {
      for (int i = random.nextInt(4); i >= 0; i--) {
        if (random.nextInt(4) == 0 && !owned.isEmpty()) {
          var block = owned.remove(random.nextInt(owned.size()));
          model.discard(block.id());
          block.release();
        } else if (!held.isEmpty()) {
          var block = held.remove(random.nextInt(held.size()));
          model.release(block.id());
          block.release();
        }
      }
    }

    /** A request ends, whose blocks are here or not, held or not. */
    private void ended() {
      var chain = one(chains);
      int blocks = random.nextInt(chain.size() + 1);
      int output = random.nextInt(1_000) - 1;
      var hint = new ReturnHint(random.nextInt(3), one(ReturnHint.Expectation.values()));
      var names = Chains.names(chain);
      var end = new EndedRequest(names, blocks, random.nextInt(blocks + 1), output, hint);
      pool.ended(end);
      model.ended(end);
      if (blocks == 0 || random.nextInt(3) > 0) return;
      var last = chain.get(random.nextInt(blocks)).hash();
      var later = new ReturnHint(random.nextInt(3), one(ReturnHint.Expectation.values()));
      pool.updateHint(last, later);
      model.updateHint(last, later);
    }

    private void rare() {
      if (random.nextInt(10) == 0) {
        model.clear();
        pool.clear();
      } else if (!held.isEmpty()) {
        var block = one(held);
        switch (random.nextInt(3)) {
          case 0 -> {
            model.share(block.id());
            held.add(block.share());
          }
          case 1 -> hold(block.weak().upgrade().orElseThrow(), model.pin(block.hash()));
          default -> {
            var release = one(PoolSettings.Release.values());
            model.resets.remove(block.id());
            if (release == PoolSettings.Release.RESET) model.resets.add(block.id());
            block.onRelease(release);
          }
        }
      }
    }

    void compare(int operation) {
      boolean same =
          pool.free() == model.free.size()
              && pool.held() == model.held()
              && pool.cached() == model.cached()
              && pool.countHeld() == model.held()
              && registry.size() == known();
      for (var chain : chains) {
        for (var block : chain) same &= pool.has(block.hash()) == model.has(block.hash());
      }
      assertThat(same).as("agreement after operation %d", operation).isTrue();
    }

    /** Returns how many blocks are here or below. */
    private int known() {
      int count = 0;
      for (var hash : hashes) if (pool.has(hash) || below.has(hash)) count++;
      return count;
    }

    /** Everything given back is everything there was. */
    void end() {
      below.release(heldBelow);
      below.clear();
      owned.forEach(Block::release);
      pool.release(held);
      pool.clear();
      assertThat(pool.free()).isEqualTo(pool.total());
      assertThat(registry.size()).isZero();
    }

    private <T> T one(List<T> list) {
      return list.get(random.nextInt(list.size()));
    }

    private <T> T one(T[] values) {
      return values[random.nextInt(values.length)];
    }
  }
}
