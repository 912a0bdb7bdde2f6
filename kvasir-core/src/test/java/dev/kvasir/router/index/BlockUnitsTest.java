package dev.kvasir.router.index;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Nullable;
import dev.kvasir.Seeds;
import dev.kvasir.kv.event.KvEvent;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.Sha256Hasher;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that what is told in units is what the engine's blocks, of any size, hold of them. */
class BlockUnitsTest {
  private static final BlockUnits.Group ONLY = new BlockUnits.Group(0, 0);
  private static final List<Tier> TIERS = List.of(Tier.DEVICE, Tier.HOST);

  /** Records what an index would know by now. */
  private static final class RecordingTarget implements BlockUnits.Target {
    final Map<Tier, Set<BlockHash>> units = new EnumMap<>(Tier.class);
    final Set<BlockHash> ends = new LinkedHashSet<>();
    boolean needsEnds;
    int grain;

    Set<BlockHash> on(Tier tier) {
      return units.computeIfAbsent(tier, _ -> new LinkedHashSet<>());
    }

    @Override
    public void on(KvEvent event) {
      switch (event) {
        case KvEvent.Stored(var tier, var block) ->
            assertThat(on(tier).add(block.hash())).as("told once").isTrue();
        case KvEvent.Removed(var tier, var hash) ->
            assertThat(on(tier).remove(hash)).as("was told").isTrue();
        case KvEvent.Lost _ -> forget();
      }
    }

    @Override
    public void forget() {
      units.clear();
      ends.clear();
      needsEnds = false;
    }

    @Override
    public void grain(int tokens) {
      grain = tokens;
    }

    @Override
    public void needsEnds() {
      needsEnds = true;
    }

    @Override
    public void end(BlockHash unit) {
      assertThat(ends.add(unit)).isTrue();
    }

    @Override
    public void noEnd(BlockHash unit) {
      assertThat(ends.remove(unit)).isTrue();
    }
  }

  private static BlockUnits.Block<Prefix> block(
      BlockUnits<Prefix> units, BlockUnits.@Nullable Block<Prefix> before, int from, int to) {
    var tokens = List.of(1, 2, 3, 4, 5, 6, 7, 8);
    var ints = tokens.stream().mapToInt(Integer::intValue).toArray();
    var prefix = new Prefix(tokens.subList(0, to), to - from);
    var hasher = new Sha256Hasher("model", "");
    return units.at(new BlockUnits.Place<>(prefix, before, hasher, ints, from, to));
  }

  @Test
  void anEndStaysAsLongAsOneOfTheBlocksThatEndThereDoes() {
    var target = new RecordingTarget();
    var units = new BlockUnits<Prefix>(4, 100, target);
    var window = new BlockUnits.Group(1, 4);
    var large = block(units, null, 0, 8);
    var first = block(units, null, 0, 4);
    var second = block(units, first, 4, 8);
    for (var block : List.of(large, first, second)) units.hold(block, window, Tier.DEVICE);
    assertThat(target.ends).hasSize(2);
    units.release(large, 1, Tier.DEVICE);
    assertThat(target.ends).hasSize(2);
    units.release(second, 1, Tier.DEVICE);
    assertThat(target.ends).hasSize(1);
  }

  /** A prompt up to the end of a block, which names the block. */
  private record Prefix(List<Integer> tokens, int length) {
    int end() {
      return tokens.size();
    }

    int start() {
      return end() - length;
    }
  }

  /** One engine that stores and drops blocks of one size in any order. */
  private static final class Walk {
    private final RandomGenerator random;
    private final int unit;
    private final int size;
    private final List<BlockUnits.Group> groups;
    private RecordingTarget target = new RecordingTarget();
    private BlockUnits<Prefix> units;

    /** For each group, tier and block the number of copies. */
    private final Map<Integer, Map<Tier, Map<Prefix, Integer>>> held = new LinkedHashMap<>();

    private final Set<Integer> seen = new TreeSet<>();

    Walk(RandomGenerator random, int unit, int size, List<BlockUnits.Group> groups) {
      this.random = random;
      this.unit = unit;
      this.size = size;
      this.groups = groups;
      this.units = new BlockUnits<>(unit, 100_000, target);
    }

    private Map<Prefix, Integer> held(int group, Tier tier) {
      return held.computeIfAbsent(group, _ -> new EnumMap<>(Tier.class))
          .computeIfAbsent(tier, _ -> new LinkedHashMap<>());
    }

    void step() {
      int choice = random.nextInt(100);
      if (choice < 45) store();
      else if (choice < 96) drop();
      else if (choice < 99) copy();
      else clear();
    }

    /** Goes on with a copy, as another index has it that began with an image of this one. */
    private void copy() {
      var image = units.image(Integer.MAX_VALUE);
      target = new RecordingTarget();
      units = new BlockUnits<>(unit, 100_000, target);
      units.restore(image, block -> assertThat(units.find(block.key())).isSameAs(block));
      assertThat(units.image(Integer.MAX_VALUE).blocks())
          .extracting(UnitImage.Saved::key)
          .as("heard of in the same order")
          .isEqualTo(image.blocks().stream().map(UnitImage.Saved::key).toList());
    }

    private void clear() {
      units.clear();
      held.clear();
      seen.clear();
    }

    /** A prompt of few different tokens at few places, so that prompts have much in common. */
    private void store() {
      int count = 1 + random.nextInt(3 * Math.max(1, unit / size) + 2);
      var tokens = new ArrayList<Integer>();
      for (int i = 0; i < count * size; i++) {
        boolean branches = i % Math.max(1, size / 2) == 0 && random.nextInt(4) == 0;
        tokens.add(branches ? random.nextInt(3) : 7);
      }
      var group = groups.get(random.nextInt(groups.size()));
      var tier = random.nextInt(4) == 0 ? Tier.HOST : Tier.DEVICE;
      BlockUnits.Block<Prefix> before = null;
      var ints = tokens.stream().mapToInt(Integer::intValue).toArray();
      for (int i = 0; i < count; i++) {
        var prefix = new Prefix(List.copyOf(tokens.subList(0, (i + 1) * size)), size);
        var hasher = new Sha256Hasher("model", "");
        var place = new BlockUnits.Place<>(prefix, before, hasher, ints, i * size, (i + 1) * size);
        before = units.at(place);
        assertThat(units.hold(before, group, tier)).isTrue();
        held(group.index(), tier).merge(prefix, 1, Integer::sum);
      }
      seen.add(group.index());
    }

    /** Drops any block, not only the last of a prompt. */
    private void drop() {
      var group = groups.get(random.nextInt(groups.size()));
      var tier = TIERS.get(random.nextInt(TIERS.size()));
      var all = List.copyOf(held(group.index(), tier).keySet());
      if (all.isEmpty()) return;
      var prefix = all.get(random.nextInt(all.size()));
      var block = Objects.requireNonNull(units.find(prefix));
      units.release(block, group.index(), tier);
      // Copies are counted in the engine's memory only.
      var copies = held(group.index(), tier);
      int count = tier == Tier.DEVICE ? copies.getOrDefault(prefix, 1) : 1;
      if (count > 1) copies.put(prefix, count - 1);
      else copies.remove(prefix);
    }

    void compare() {
      for (var tier : TIERS) assertThat(target.on(tier)).as("%s", tier).isEqualTo(units(tier));
      if (!seen.isEmpty() && whole().findAny().isPresent())
        assertThat(target.grain).isEqualTo(size);
      assertThat(target.needsEnds).isEqualTo(windows().findAny().isPresent());
      if (target.needsEnds) assertThat(target.ends).isEqualTo(ends());
      var blocks = new LinkedHashSet<Prefix>();
      held.values().forEach(tiers -> tiers.values().forEach(map -> blocks.addAll(map.keySet())));
      assertThat(units.size()).isEqualTo(blocks.size());
    }

    private Stream<BlockUnits.Group> whole() {
      return groups.stream().filter(g -> g.isWhole() && seen.contains(g.index()));
    }

    private Stream<BlockUnits.Group> windows() {
      return groups.stream().filter(g -> !g.isWhole() && seen.contains(g.index()));
    }

    private boolean has(Prefix prefix, Tier tier) {
      return whole().findAny().isPresent()
          && whole().allMatch(group -> held(group.index(), tier).containsKey(prefix));
    }

    /** Every unit of every block, looked at by itself. */
    private Set<BlockHash> units(Tier tier) {
      var expected = new LinkedHashSet<BlockHash>();
      if (whole().findAny().isEmpty()) return expected;
      for (var block : held(whole().findFirst().orElseThrow().index(), tier).keySet()) {
        for (int end = unit; end <= block.end(); end += unit) {
          if (end <= block.start() || !has(block, tier)) continue;
          var tokens = block.tokens().subList(0, end);
          boolean complete = true;
          for (int from = end - unit, at = block.start(); at > from; at -= size) {
            complete &= has(new Prefix(List.copyOf(tokens.subList(0, at)), size), tier);
          }
          if (complete) expected.add(name(tokens));
        }
      }
      return expected;
    }

    private Set<BlockHash> ends() {
      var expected = new LinkedHashSet<BlockHash>();
      var any = windows().findFirst().orElseThrow();
      for (var block : held(any.index(), Tier.DEVICE).keySet()) {
        if (block.end() % unit != 0) continue;
        if (windows().allMatch(group -> isEnd(block, group))) expected.add(name(block.tokens()));
      }
      return expected;
    }

    private boolean isEnd(Prefix block, BlockUnits.Group window) {
      int blocks = Math.ceilDiv(window.windowTokens() - 1, size);
      for (int end = block.end(); end > 0 && blocks > 0; end -= size, blocks--) {
        var prefix = new Prefix(List.copyOf(block.tokens().subList(0, end)), size);
        if (!held(window.index(), Tier.DEVICE).containsKey(prefix)) return false;
      }
      return true;
    }

    private BlockHash name(List<Integer> tokens) {
      return BlockUnitsTest.name(tokens, unit);
    }
  }

  private static BlockHash name(List<Integer> tokens, int unit) {
    var hasher = new Sha256Hasher("model", "");
    var all = tokens.stream().mapToInt(Integer::intValue).toArray();
    BlockHash name = null;
    for (int from = 0; from + unit <= all.length; from += unit) {
      name = hasher.hash(name, all, from, from + unit, List.of());
    }
    if (name == null) throw new IllegalArgumentException("no unit in " + tokens);
    return name;
  }

  @ParameterizedTest
  @CsvSource({"16,1", "16,4", "16,16", "16,24", "16,32", "16,128", "4,6", "4,1"})
  void unitsAreThereWhileAllTheirTokensAre(int unit, int size) {
    Seeds.each(
        2 * Seeds.scale(),
        random -> {
          var walk = new Walk(random, unit, size, List.of(ONLY));
          for (int i = 0; i < (size > 100 ? 60 : 300); i++) {
            walk.step();
            walk.compare();
          }
        });
  }

  @ParameterizedTest
  @CsvSource({"4,4", "4,8", "4,2"})
  void allGroupsOfLayersAreFollowed(int unit, int size) {
    var groups =
        List.of(
            ONLY,
            new BlockUnits.Group(1, 0),
            new BlockUnits.Group(2, 2 * size + 1),
            new BlockUnits.Group(3, 2));
    Seeds.each(
        4 * Seeds.scale(),
        random -> {
          var walk = new Walk(random, unit, size, groups);
          for (int i = 0; i < 600; i++) {
            walk.step();
            walk.compare();
          }
        });
  }

  @Test
  void blocksThatAreTooManyGoWithTheUnitsThatNeedThem() {
    Seeds.each(
        10 * Seeds.scale(),
        random -> {
          var target = new RecordingTarget();
          var units = new BlockUnits<List<Integer>>(4, 25, target);
          var hasher = new Sha256Hasher("model", "");
          for (int i = 0; i < 200; i++) {
            var tokens = new int[12];
            for (int t = 0; t < tokens.length; t++) tokens[t] = random.nextInt(t == 0 ? 40 : 1, 41);
            BlockUnits.Block<List<Integer>> before = null;
            for (int t = 0; t < tokens.length; t++) {
              var key = Arrays.stream(tokens, 0, t + 1).boxed().toList();
              before = units.at(new BlockUnits.Place<>(key, before, hasher, tokens, t, t + 1));
              units.hold(before, ONLY, Tier.DEVICE);
            }
            units.trim();
            assertThat(units.size()).isLessThanOrEqualTo(25);
            assertThat(target.on(Tier.DEVICE)).hasSizeLessThanOrEqualTo(units.size());
            for (int n = 1; n <= 3; n++) {
              var last = Arrays.stream(tokens, 0, 4 * n).boxed().toList();
              if (units.find(last) != null) {
                assertThat(target.on(Tier.DEVICE)).contains(name(last, 4));
              }
            }
          }
          assertThat(units.trimmed()).isPositive();
        });
  }
}
