package dev.kvasir.router.index;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Seeds;
import dev.kvasir.kv.CachedBlocks;
import dev.kvasir.kv.event.KvEvent;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.router.view.Views;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/** The index and a model of plain sets agree, operation by operation. */
class IndexModelTest {
  private static final List<Tier> TIERS = List.of(Tier.values());
  private static final int NAMES = 60;
  private static final int LIFETIME = 1_000;

  @Test
  void indexAndModelAgreeAfterEveryOperation() {
    Seeds.each(
        20 * Seeds.scale(),
        random -> {
          var walk = new Walk(random);
          for (int operation = 0; operation < 4_000; operation++) {
            walk.step();
            walk.compare();
          }
          walk.end();
        });
  }

  /** Model of what one instance holds, or may hold. */
  private static final class Model {
    final Map<Tier, Set<BlockHash>> held = new EnumMap<>(Tier.class);
    final Map<BlockHash, Long> expected = new HashMap<>();
    final LinkedHashMap<BlockHash, Boolean> routed = new LinkedHashMap<>(16, 0.75f, true);
    final int blocksMax;
    boolean reporting;

    Model(int blocksMax) {
      this.blocksMax = blocksMax;
      for (var tier : TIERS) held.put(tier, new HashSet<>());
    }

    Set<BlockHash> on(Tier tier) {
      var set = held.get(tier);
      if (set == null) throw new IllegalStateException();
      return set;
    }

    void forget() {
      held.values().forEach(Set::clear);
      expected.clear();
      routed.clear();
    }
  }

  private static final class Walk {
    private final RandomGenerator random;
    private final PrefixIndex index;
    private final int instancesMax;
    private final Map<Integer, Model> models = new TreeMap<>();
    private final Map<Integer, Integer> places = new TreeMap<>();
    private int added;
    private long now;

    Walk(RandomGenerator random) {
      this.random = random;
      this.instancesMax = new int[] {1, 3, 64, 200}[random.nextInt(4)];
      this.index =
          new PrefixIndex(new IndexSettings(NAMES, 1 << 16, Duration.ofNanos(LIFETIME), 1));
    }

    void step() {
      now += random.nextInt(20);
      index.settle(now);
      for (var model : models.values()) {
        model.expected.values().removeIf(made -> now - made >= LIFETIME);
      }
      if (models.isEmpty() || (random.nextInt(20) == 0 && models.size() < instancesMax)) {
        places.put(added, index.add(added));
        models.put(added, new Model(1 + random.nextInt(NAMES)));
        added++;
        return;
      }
      int id = List.copyOf(models.keySet()).get(random.nextInt(models.size()));
      var model = models.get(id);
      if (model == null) throw new IllegalStateException();
      switch (random.nextInt(40)) {
        case 0 -> {
          index.remove(id);
          models.remove(id);
          places.remove(id);
        }
        case 1 -> {
          index.forget(id);
          model.forget();
        }
        case 2 -> event(id, model, new KvEvent.Lost(0, 1));
        case 3, 4, 5, 6, 7, 8, 9 -> send(id, model);
        default -> {
          // A few never tell anything.
          if (id % 3 != 0) event(id, model, event());
        }
      }
    }

    private KvEvent event() {
      var tier = TIERS.get(random.nextInt(TIERS.size()));
      var hash = Views.hash(random.nextInt(NAMES));
      return random.nextInt(3) > 0
          ? new KvEvent.Stored(tier, TokenBlock.named(hash, null, 0))
          : new KvEvent.Removed(tier, hash);
    }

    private void event(int id, Model model, KvEvent event) {
      index.on(id, event);
      if (!model.reporting && !model.routed.isEmpty()) model.forget();
      model.reporting = true;
      switch (event) {
        case KvEvent.Stored(var tier, var block) -> {
          model.on(tier).add(block.hash());
          if (tier == Tier.DEVICE) model.expected.remove(block.hash());
        }
        case KvEvent.Removed(var tier, var hash) -> {
          model.on(tier).remove(hash);
          if (tier == Tier.DEVICE) model.expected.remove(hash);
        }
        case KvEvent.Lost _ -> model.forget();
      }
    }

    private void send(int id, Model model) {
      int first = random.nextInt(NAMES);
      var prefix = Views.hashes(first, random.nextInt(NAMES - first));
      index.sent(places.getOrDefault(id, -1), prefix, model.blocksMax, 0, now);
      for (var hash : prefix.reversed()) {
        if (model.reporting) {
          if (!model.on(Tier.DEVICE).contains(hash)) model.expected.put(hash, now);
          continue;
        }
        model.routed.put(hash, true);
        model.on(Tier.DEVICE).add(hash);
        if (model.routed.size() <= model.blocksMax) continue;
        model.on(Tier.DEVICE).remove(model.routed.pollFirstEntry().getKey());
      }
    }

    /** Checks that what is known or expected is found, and nothing else. */
    void compare() {
      int first = random.nextInt(NAMES);
      var prefix = Views.hashes(first, random.nextInt(NAMES - first));
      var match = index.match(prefix);
      for (int id : models.keySet()) {
        // All of them at once take long; over the operations each has its turn.
        if (models.size() > 4 && random.nextInt(models.size()) > 4) continue;
        compare(id, prefix, match.at(places.getOrDefault(id, -1)));
      }
    }

    private void compare(int id, List<BlockHash> prefix, CachedBlocks found) {
      var model = models.get(id);
      if (model == null) throw new IllegalStateException();
      int length = length(model, prefix, model.expected.keySet());
      boolean agree = found.total() == length;
      if (model.expected.isEmpty()) {
        agree &= found.equals(cached(model, prefix.subList(0, length)));
      }
      if (!agree) throw new AssertionError(found + ", expected " + length);
    }

    private static int length(Model model, List<BlockHash> prefix, Set<BlockHash> expected) {
      int length = 0;
      while (length < prefix.size() && holds(model, prefix.get(length), expected)) length++;
      return length;
    }

    private static boolean holds(Model model, BlockHash hash, Set<BlockHash> expected) {
      return expected.contains(hash)
          || model.held.values().stream().anyMatch(set -> set.contains(hash));
    }

    private static CachedBlocks cached(Model model, List<BlockHash> prefix) {
      var counts = new int[TIERS.size()];
      for (var hash : prefix) {
        for (var tier : TIERS) {
          if (!model.on(tier).contains(hash)) continue;
          counts[tier.level()]++;
          break;
        }
      }
      return CachedBlocks.of(counts);
    }

    /** When all have left nothing is left. */
    void end() {
      for (int id : new ArrayList<>(models.keySet())) index.remove(id);
      assertThat(index.size()).isZero();
      for (int id = 0; id < added; id++) {
        for (var tier : TIERS) assertThat(index.held(id, tier)).isZero();
      }
    }
  }
}
