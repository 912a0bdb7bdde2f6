package dev.kvasir.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

/** With costs as one H200 has them, in nanoseconds for a piece. */
class CopyChoiceTest {
  private static final CopyCosts SMALL = new CopyCosts(300, 2900, 305, 880, 315);
  private static final CopyCosts LARGE = new CopyCosts(4800, 6600, 4850, 4850, 5000);

  @Test
  void runsGoAsPlainCopies() {
    assertThat(way(SMALL, new CopyShape(1024, 1, 1, 1))).isEqualTo(CopyWay.RUNS);
    assertThat(way(LARGE, new CopyShape(64, 1, 8, 8))).isEqualTo(CopyWay.RUNS);
  }

  @Test
  void oneBlockIsAPlainCopy() {
    assertThat(way(SMALL, new CopyShape(1, 1, 1, 1))).isEqualTo(CopyWay.RUNS);
    assertThat(way(LARGE, new CopyShape(1, 1, 1, 1))).isEqualTo(CopyWay.RUNS);
  }

  @Test
  void smallBlocksThatAreScatteredOnTheGpuOnlyAreStaged() {
    assertThat(way(SMALL, new CopyShape(1024, 1, 1000, 4))).isEqualTo(CopyWay.STAGED);
  }

  @Test
  void smallBlocksThatAreScatteredOnBothSidesGoByKernel() {
    assertThat(way(SMALL, new CopyShape(1024, 1, 1000, 900))).isEqualTo(CopyWay.DIRECT);
  }

  @Test
  void largeBlocksGoByTheBatchCallWhichLeavesTheProcessorsAlone() {
    assertThat(way(LARGE, new CopyShape(64, 1, 60, 50))).isEqualTo(CopyWay.BATCH);
    assertThat(way(LARGE, new CopyShape(64, 1, 60, 1))).isEqualTo(CopyWay.BATCH);
  }

  @Test
  void layersOfABlockCountAsPiecesButStagedTheyAreOneRow() {
    var costs = new CopyCosts(300, 2900, 305, 880, 315);
    assertThat(way(costs, new CopyShape(16, 64, 16, 1))).isEqualTo(CopyWay.STAGED);
    assertThat(way(costs, new CopyShape(512, 2, 1, 1))).isEqualTo(CopyWay.RUNS);
  }

  @Test
  void whatDoesNotWorkHereIsNeverChosen() {
    double never = CopyCosts.NEVER;
    var noKernels = new CopyCosts(300, 2900, never, 880, never);
    var neither = new CopyCosts(300, 2900, never, never, never);
    var scattered = new CopyShape(1024, 1, 1000, 900);
    assertThat(way(noKernels, scattered)).isEqualTo(CopyWay.BATCH);
    assertThat(way(neither, scattered)).isEqualTo(CopyWay.RUNS);
  }

  @Test
  void aKernelIsNotWorthALittle() {
    var shape = new CopyShape(10000, 1, 10000, 10000);
    assertThat(way(new CopyCosts(100, 500, 500, 200, 195), shape)).isEqualTo(CopyWay.BATCH);
    assertThat(way(new CopyCosts(100, 500, 500, 200, 190), shape)).isEqualTo(CopyWay.DIRECT);
  }

  @Test
  void runsAreCountedOnBothSidesAndOnTheHost() {
    long[] pairs = {pair(5, 1), pair(6, 2), pair(9, 3), pair(10, 7), pair(11, 8), pair(3, 20)};
    assertThat(CopyShape.of(pairs, 0, 6, 1)).isEqualTo(new CopyShape(6, 1, 4, 3));
    assertThat(CopyShape.of(pairs, 3, 5, 2)).isEqualTo(new CopyShape(2, 2, 1, 1));
    assertThat(CopyShape.of(pairs, 5, 6, 1)).isEqualTo(new CopyShape(1, 1, 1, 1));
  }

  @Test
  void aPairSortsByItsSlotOnTheHost() {
    assertThat(pair(Integer.MAX_VALUE, 1)).isLessThan(pair(0, 2));
    assertThat(CopyShape.device(pair(7, 9))).isEqualTo(7);
    assertThat(CopyShape.host(pair(7, 9))).isEqualTo(9);
  }

  @Test
  void costsAndShapesThatCannotBeAreRefused() {
    assertThatThrownBy(() -> new CopyCosts(0, 1, 1, 1, 1)).hasMessageContaining("link 0.0");
    assertThatThrownBy(() -> new CopyShape(2, 1, 1, 2)).hasMessageContaining("2 blocks");
  }

  private static CopyWay way(CopyCosts costs, CopyShape shape) {
    return CopyChoice.of(costs, shape).way();
  }

  private static long pair(int device, int host) {
    return CopyShape.pair(device, host);
  }
}
