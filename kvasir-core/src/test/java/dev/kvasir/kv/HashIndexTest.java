package dev.kvasir.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.Seeds;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.Chains;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class HashIndexTest {
  @Test
  void agreesWithAPlainMap() {
    Seeds.each(
        20 * Seeds.scale(),
        random -> {
          var index = new HashIndex();
          index.reserve(10);
          index.reserve(22);
          var model = new TreeMap<Integer, Integer>();
          for (int step = 0; step < 5_000; step++) {
            int name = random.nextInt(48);
            var hash = crowded(name);
            var known = model.get(name);
            assertThat(index.find(hash)).isEqualTo(known == null ? HashIndex.ABSENT : known);
            if (known != null) {
              assertThat(index.value(known, name & 3)).isEqualTo(name);
              assertThat(index.value(known, name + 1 & 3)).isEqualTo(HashIndex.ABSENT);
            }
            if (known != null && random.nextBoolean()) {
              assertThat(index.unsetValue(known, name & 3)).isTrue();
              index.remove(known);
              model.remove(name);
            } else if (known == null && model.size() < 32) {
              model.put(name, index.enter(hash, name & 3, name));
            }
            assertThat(index.size()).isEqualTo(model.size());
          }
          model.forEach((name, entry) -> assertThat(index.find(crowded(name))).isEqualTo(entry));
        });
  }

  @Test
  void valueThatIsThereIsKeptAndReturned() {
    var index = new HashIndex();
    index.reserve(2);
    int entry = index.enter(Chains.hash(1, 0), 2, 5);
    assertThat(index.enter(Chains.hash(1, 0), 2, 6)).isEqualTo(~entry);
    assertThat(index.enter(Chains.hash(1, 0), 3, 0)).isEqualTo(entry);
    assertThat(index.value(entry, 2)).isEqualTo(5);
    assertThat(index.value(entry, 3)).isZero();
    assertThat(index.unsetValue(entry, 2)).isFalse();
    assertThat(index.unsetValue(entry, 3)).isTrue();
  }

  @Test
  void keepsItsEntriesWhenItGrows() {
    var index = new HashIndex();
    index.reserve(4);
    int[] entries = new int[4];
    for (int i = 0; i < 4; i++) entries[i] = index.enter(Chains.hash(i, 0), 0, i);
    index.reserve(1000);
    for (int i = 0; i < 4; i++) assertThat(index.find(Chains.hash(i, 0))).isEqualTo(entries[i]);
  }

  @Test
  void hashesThatDifferInOneWordAreTwo() {
    var index = new HashIndex();
    index.reserve(2);
    int first = index.enter(new BlockHash(1, 2, 3, 4), 0, 7);
    // Same place and same tag: the third and the fourth word cancel out.
    assertThat(index.find(new BlockHash(1, 2, 4, 3))).isEqualTo(HashIndex.ABSENT);
    assertThat(index.find(new BlockHash(1, 2, 3, 4))).isEqualTo(first);
  }

  @Test
  void fullIndexSaysSo() {
    var index = new HashIndex();
    index.reserve(1);
    index.enter(Chains.hash(1, 0), 0, 1);
    assertThatThrownBy(() -> index.enter(Chains.hash(2, 0), 0, 2))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageStartingWith("index full with 1 entries, adding ");
  }

  /** Hashes that crowd into a few places, to make long probes. */
  private static BlockHash crowded(int name) {
    return new BlockHash(name % 5, (long) (name % 3) << 40, name, 0);
  }
}
