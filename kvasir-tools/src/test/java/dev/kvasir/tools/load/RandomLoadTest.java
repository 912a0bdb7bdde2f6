package dev.kvasir.tools.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A seed decides the whole load. */
class RandomLoadTest {
  private static final RandomLoad.Shape SHAPE = new RandomLoad.Shape(50, 40, 10, 8);

  private static List<LoadRequest> load(long seed, int count) {
    var requests = new ArrayList<LoadRequest>();
    new RandomLoad(SHAPE, count, seed).forEachRemaining(requests::add);
    return requests;
  }

  @Test
  void sameSeedMakesTheSameLoad() {
    assertThat(texts(load(7, 20))).isEqualTo(texts(load(7, 20)));
    assertThat(texts(load(7, 20))).isNotEqualTo(texts(load(8, 20)));
    assertThat(load(7, 20))
        .extracting(LoadRequest::arrivalNanos)
        .isEqualTo(load(7, 20).stream().map(LoadRequest::arrivalNanos).toList())
        .isSorted();
  }

  @Test
  void arrivalsComeAtTheRate() {
    double seconds = load(1, 20_000).getLast().arrivalNanos() / 1e9;
    assertThat(seconds).isCloseTo(20_000 / SHAPE.perSecond(), within(8.0));
  }

  @Test
  void promptsShareTheirFirstWordsOnly() {
    var texts = texts(load(3, 10));
    assertThat(texts).allMatch(text -> text.split(" ").length == 40);
    assertThat(texts.stream().map(text -> first(text, 10)).distinct()).hasSize(1);
    assertThat(texts.stream().map(text -> first(text, 20)).distinct()).hasSize(10);
  }

  private static String first(String text, int words) {
    return Stream.of(text.split(" ")).limit(words).collect(Collectors.joining(" "));
  }

  private static List<String> texts(List<LoadRequest> requests) {
    return requests.stream().map(request -> request.prompt().get()).toList();
  }
}
