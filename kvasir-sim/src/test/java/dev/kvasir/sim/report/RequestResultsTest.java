package dev.kvasir.sim.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kv.CachedBlocks;
import dev.kvasir.sim.workload.Content;
import dev.kvasir.sim.workload.Request;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Test;

class RequestResultsTest {
  private final RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(3);

  @Test
  void whatWasToldIsGivenBackInTheOrderOfArrivalHoweverItCame() {
    var results = new RequestResults();
    var told = new ArrayList<RequestResult>();
    for (int i = 0; i < 1000; i++) {
      var result = result(i);
      assertThat(results.expect(result.request())).isEqualTo(i);
      told.add(result);
    }
    for (int i = 999; i >= 0; i--) results.tell(i, told.get(i));
    assertThat(results).isEqualTo(told);
  }

  private RequestResult result(int number) {
    var endings = Ending.values();
    var classes = List.of("", "WARM", "MEDIUM", "HEAVY_P2P", "HEAVY_COLO");
    return new RequestResult(
        Request.of("r" + number, number, 5, 7, Content.unique(number)),
        random.nextInt(-1, 8),
        random.nextInt(-1, 8),
        endings[random.nextInt(endings.length)],
        classes.get(random.nextInt(classes.size())),
        random.nextLong(-1, 1L << 40),
        random.nextLong(-1, 1L << 40),
        random.nextLong(-1, 1L << 40),
        random.nextLong(1L << 40),
        random.nextInt(1000),
        random.nextInt(1000),
        random.nextInt(1000),
        CachedBlocks.onDevice(random.nextInt(3)));
  }

  @Test
  void figuresThatAreCountedHaveThePercentilesOfThoseThatAreSorted() {
    for (long range : new long[] {1, 50, 3_999, 4_001, 1L << 40}) {
      var micros = random.longs(1000, 0, range).toArray();
      var sorted = micros.clone();
      Arrays.sort(sorted);
      var quantiles = new Quantiles(micros);
      assertThat(micros).isEqualTo(sorted);
      assertThat(quantiles.percentileMicros(100)).isEqualTo((double) sorted[999]);
      assertThat(quantiles.meanMicros()).isEqualTo(Arrays.stream(sorted).sum() / 1000.0);
    }
  }
}
