package dev.kvasir.live.load;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Seeds;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Events are found however the network cuts them. */
class EventLinesTest {
  private static final String STREAM =
      ": hello\n\ndata: {\"a\":1}\n\nevent: x\r\ndata:two\r\n\r\ndata: né\n\ndata: [DONE]\n\n";

  @Test
  void eventsDoNotDependOnWhereTheBytesAreCut() {
    Seeds.each(
        200 * Seeds.scale(),
        random -> {
          var events = new ArrayList<String>();
          var lines = new EventLines(1_000, data -> events.add(new String(data, UTF_8)));
          var bytes = STREAM.getBytes(UTF_8);
          int from = 0;
          while (from < bytes.length) {
            int to = Math.min(bytes.length, from + 1 + random.nextInt(12));
            assertThat(lines.feed(Arrays.copyOfRange(bytes, from, to))).isTrue();
            from = to;
          }
          assertThat(events).isEqualTo(List.of("{\"a\":1}", "two", "né", "[DONE]"));
        });
  }

  @Test
  void lineThatNeverEndsIsGivenUp() {
    var lines = new EventLines(10, _ -> {});
    assertThat(lines.feed("data: 12".getBytes(UTF_8))).isTrue();
    assertThat(lines.feed("345678".getBytes(UTF_8))).isFalse();
  }
}
