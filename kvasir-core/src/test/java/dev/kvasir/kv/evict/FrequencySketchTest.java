package dev.kvasir.kv.evict;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.Seeds;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.Chains;
import java.util.HashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FrequencySketchTest {
  private static final BlockHash HOT = Chains.hash(0, 0);

  @Test
  void countsUpToFifteenAndStaysThere() {
    var sketch = new FrequencySketch(1024);
    for (int use = 1; use <= 40; use++) {
      sketch.touch(HOT);
      assertThat(sketch.count(HOT)).isEqualTo(Math.min(use, 15));
    }
    assertThat(sketch.count(Chains.hash(0, 1))).isZero();
  }

  /** The counter chosen and the word chosen must not follow from the same bits of the hash. */
  @ParameterizedTest
  @ValueSource(ints = {64, 100, 1024, 4096, 4100, 1 << 16})
  void decaysAtEverySize(int blocks) {
    var sketch = new FrequencySketch(blocks);
    for (int use = 0; use < 15; use++) sketch.touch(HOT);
    for (int use = 0; use < 45 * blocks; use++) sketch.touch(Chains.hash(1 + use % blocks, 0));
    assertThat(sketch.decays()).isEqualTo(4);
    // 15 -> 7 -> 3 -> 1 -> 0 by itself; the rest is what others added to its counter.
    assertThat(sketch.count(HOT)).isLessThan(15);
  }

  @Test
  void everyCounterIsReachedAtPowersOfTwo() {
    int blocks = 4096;
    var sketch = new FrequencySketch(blocks);
    int exact = 0;
    for (int i = 0; i < blocks; i++) sketch.touch(Chains.hash(i, 0));
    for (int i = 0; i < blocks; i++) if (sketch.count(Chains.hash(i, 0)) == 1) exact++;
    // With one counter in sixteen in use, nearly none would be exact.
    assertThat(exact).isGreaterThan(blocks * 8 / 10);
  }

  @Test
  void loadThatFindsAllCountersFullStillDecays() {
    var sketch = new FrequencySketch(64);
    for (int use = 0; use < 10 * 64; use++) sketch.touch(HOT);
    assertThat(sketch.decays()).isEqualTo(1);
    assertThat(sketch.count(HOT)).isEqualTo(7);
  }

  @Test
  void neverCountsLessThanThereWereUsesSinceTheLastDecay() {
    Seeds.each(
        20,
        random -> {
          var sketch = new FrequencySketch(256);
          var exact = new HashMap<BlockHash, Integer>();
          for (int use = 0; use < 2559; use++) {
            var hash = Chains.hash(random.nextInt(400), 0);
            sketch.touch(hash);
            int uses = exact.merge(hash, 1, Integer::sum);
            assertThat(sketch.count(hash)).isGreaterThanOrEqualTo(Math.min(15, uses));
          }
        });
  }

  @Test
  void badSizeIsNamed() {
    assertThatThrownBy(() -> new FrequencySketch(0)).hasMessageStartingWith("0 blocks");
  }
}
