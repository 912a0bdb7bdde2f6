package dev.kvasir.net;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HeapKeeperTest {
  private static final long MIB = 1L << 20;

  @Test
  void oldObjectsAreLookedThroughWhenTheyHaveDoubled() {
    assertThat(HeapKeeper.isTimely(399 * MIB, 200 * MIB)).isFalse();
    assertThat(HeapKeeper.isTimely(401 * MIB, 200 * MIB)).isTrue();
  }

  @Test
  void aSmallHeapIsLeftAlone() {
    assertThat(HeapKeeper.isTimely(47 * MIB, 10 * MIB)).isFalse();
    assertThat(HeapKeeper.isTimely(49 * MIB, 10 * MIB)).isTrue();
  }

  @Test
  void itEndsWithItsOwner() {
    HeapKeeper.start().close();
    assertThat(Thread.getAllStackTraces().keySet())
        .noneMatch(thread -> thread.getName().equals("kvasir-heap") && thread.isAlive());
  }
}
