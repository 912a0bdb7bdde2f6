package dev.kvasir.router.index;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Seeds;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.router.view.Views;
import java.util.LinkedHashMap;
import org.junit.jupiter.api.Test;

class RecentBlocksTest {
  @Test
  void agreesWithAMapInTheOrderOfUse() {
    Seeds.each(
        20 * Seeds.scale(),
        random -> {
          int capacity = 1 + random.nextInt(40);
          var recent = new RecentBlocks(capacity);
          var model = new LinkedHashMap<BlockHash, Boolean>(16, 0.75f, true);
          for (int step = 0; step < 3_000; step++) {
            var hash = crowded(random.nextInt(60));
            assertThat(recent.contains(hash)).isEqualTo(model.containsKey(hash));
            model.put(hash, true);
            var eldest = model.size() > capacity ? model.pollFirstEntry().getKey() : null;
            assertThat(recent.touch(hash)).isEqualTo(eldest);
            assertThat(recent.size()).isEqualTo(model.size());
          }
        });
  }

  @Test
  void keepsWhatItHasWhenItGrows() {
    var recent = new RecentBlocks(5_000);
    for (var hash : Views.hashes(0, 6_000)) recent.touch(hash);
    assertThat(recent.size()).isEqualTo(5_000);
    assertThat(recent.contains(Views.hash(999))).isFalse();
    assertThat(recent.match(Views.hashes(1_000, 5_000))).isEqualTo(5_000);
  }

  @Test
  void matchEndsAtTheFirstThatIsNotThere() {
    var recent = new RecentBlocks(10);
    for (var hash : Views.hashes(0, 3)) recent.touch(hash);
    recent.touch(Views.hash(4));
    assertThat(recent.match(Views.hashes(0, 6))).isEqualTo(3);
    assertThat(recent.match(Views.hashes(1, 1))).isEqualTo(1);
    assertThat(recent.match(Views.hashes(3, 2))).isZero();
  }

  /** Hashes that crowd into a few places, to make long probes. */
  private static BlockHash crowded(int name) {
    return new BlockHash(name % 5, (long) (name % 3) << 40, name, 0);
  }
}
