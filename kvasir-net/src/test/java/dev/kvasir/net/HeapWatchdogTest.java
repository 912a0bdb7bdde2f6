package dev.kvasir.net;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.net.HeapWatchdog.Verdict;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
class HeapWatchdogTest {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private final Verdict verdict = new Verdict(Duration.ofSeconds(10));

  @Test
  void aHeapThatStaysFullHoweverOftenItIsCollectedIsHopeless() {
    for (int second = 0; second < 10; second++) {
      assertThat(verdict.isHopeless(second * SECOND, second, 96, 100)).isFalse();
    }
    assertThat(verdict.isHopeless(10 * SECOND, 10, 96, 100)).isTrue();
  }

  @Test
  void oneThatIsFullAndNotCollectedIsNot() {
    for (int second = 0; second < 60; second++) {
      assertThat(verdict.isHopeless(second * SECOND, 7, 99, 100)).isFalse();
    }
  }

  @Test
  void oneThatGetsRoomInBetweenIsNot() {
    for (int second = 0; second < 60; second++) {
      int used = second % 9 == 8 ? 94 : 99;
      assertThat(verdict.isHopeless(second * SECOND, second, used, 100)).isFalse();
    }
  }

  @Test
  void oneCollectionThatTakesAllTheTimeCounts() {
    verdict.isHopeless(0, 1, 99, 100);
    assertThat(verdict.isHopeless(11 * SECOND, 2, 99, 100)).isTrue();
  }

  /** Nobody throws an OutOfMemoryError here: what is kept fits, just so. */
  @Test
  void aProcessThatOnlyCollectsEnds() throws Exception {
    var process = OwnProcess.start(Full.class, "32m");
    try {
      var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(output).contains("the heap is full and collecting it frees nothing");
      assertThat(process.waitFor()).isEqualTo(HeapWatchdog.EXIT_CODE);
    } finally {
      process.destroyForcibly();
    }
  }

  /** The process. */
  static final class Full {
    private static final int LARGE = 1 << 20;
    private static final int SMALL = 16 << 10;
    private static final double MOSTLY_FILLED = 0.9;
    private static final double FILLED = 0.97;

    private Full() {}

    public static void main(String[] arguments) {
      Runnable end = () -> Runtime.getRuntime().halt(HeapWatchdog.EXIT_CODE);
      HeapWatchdog.start(Duration.ofMillis(500), Duration.ofSeconds(2), end);
      var old =
          ManagementFactory.getMemoryPoolMXBeans().stream()
              .filter(pool -> pool.getName().contains("Tenured"))
              .findFirst()
              .orElseThrow();
      var kept = new ArrayList<byte[]>();
      fill(old, kept, LARGE, MOSTLY_FILLED);
      fill(old, kept, SMALL, FILLED);
      while (!kept.isEmpty()) System.gc();
    }

    private static void fill(MemoryPoolMXBean old, List<byte[]> kept, int bytes, double share) {
      while (old.getUsage().getUsed() < share * old.getUsage().getMax()) {
        kept.add(new byte[bytes]);
        System.gc();
      }
    }
  }
}
