package dev.kvasir.sim.result;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kv.CachedBlocks;
import dev.kvasir.sim.report.Quantiles;
import dev.kvasir.sim.workload.Content;
import dev.kvasir.sim.workload.Request;
import dev.kvasir.sim.workload.Turn;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Test;

class RequestResultsTest {
  private final RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(3);

  @Test
  void resultsComeBackInTheOrderOfArrivalHoweverTheyCame() {
    var results = new RequestResults();
    var recorded = new ArrayList<RequestResult>();
    for (int i = 0; i < 3000; i++) {
      var result = result(i);
      assertThat(results.expect(result.request())).isEqualTo(i);
      recorded.add(result);
    }
    for (int i = 2999; i >= 0; i--) results.record(i, recorded.get(i));
    assertThat(results).isEqualTo(recorded);
  }

  private RequestResult result(int number) {
    var endings = RequestEnding.values();
    var classes = List.of("", "WARM", "MEDIUM", "HEAVY_P2P", "HEAVY_COLO");
    return new RequestResult(
        request(number),
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

  /** Most are like those of chance; each kind of exception first occurs in another part. */
  private Request request(int number) {
    var ids = List.of("r" + number, "chat-" + number, "r\u00e9ponse " + number);
    boolean isOdd = number > 1500 && random.nextInt(50) == 0;
    var id = isOdd ? "\u2116 " + number + "\ud800" : ids.get(random.nextInt(ids.size()));
    var request = Request.of(id, number, 5 + number, 7, content(number));
    if (random.nextInt(9) == 0) request = request.due(number + 1L);
    return number > 700 && random.nextBoolean()
        ? request.in(new Turn("s/" + number, 3, 5)).named(id.repeat(1 + number / 100))
        : request;
  }

  private Content content(int number) {
    return switch (number < 2100 ? 0 : random.nextInt(4)) {
      case 0 -> Content.unique(number);
      case 1 -> Content.shared(3, 100, number);
      case 2 -> Content.session(3, 0, number);
      default -> Content.ids(new long[] {1, 2, number}, 16, 40, number);
    };
  }

  @Test
  void contentThatOthersMayShareStaysSo() {
    var results = new RequestResults();
    for (var content : List.of(Content.session(1, 0, 2), Content.unique(3))) {
      int number = results.expect(Request.of("r", 0, 1, 1, content));
      results.record(number, result(number));
      assertThat(results.get(number).request().content().endsAlone())
          .isEqualTo(content.endsAlone());
    }
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
