package dev.kvasir.tools.load;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.net.openai.Usage;
import io.vertx.core.buffer.Buffer;
import org.junit.jupiter.api.Test;

/** Pieces of text are timed when they come, and what is no text is not. */
class ReadingTest {
  private long now;
  private final Reading reading = new Reading(() -> now);

  private void event(long at, String data) {
    now = at;
    reading.feed(Buffer.buffer("data: " + data + "\n\n"));
  }

  @Test
  void roleAndUsageAreNoText() {
    event(10, "{\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}");
    event(20, "{\"choices\":[{\"delta\":{\"content\":\"one\"}}]}");
    event(50, "{\"choices\":[{\"delta\":{\"content\":\" two\"}}]}");
    event(90, "{\"choices\":[{\"delta\":{},\"finish_reason\":\"length\"}]}");
    event(
        95,
        "{\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3,"
            + "\"prompt_tokens_details\":{\"cached_tokens\":4}}}");
    event(99, "[DONE]");
    assertThat(reading.end())
        .usingRecursiveComparison()
        .isEqualTo(new Answer.Complete(20, 50, 99, new long[] {30}, new Usage(7, 3, 4)));
  }

  @Test
  void withoutUsagePiecesCountAsTokens() {
    for (int i = 0; i < 100; i++) event(i, "{\"choices\":[{\"text\":\"x\"}]}");
    event(100, "[DONE]");
    var complete = (Answer.Complete) reading.end();
    assertThat(complete.usage().outputTokens()).isEqualTo(100);
    assertThat(complete.gapsNanos()).hasSize(99).containsOnly(1);
  }

  @Test
  void streamWithoutAnEndIsTruncated() {
    event(1, "{\"choices\":[{\"text\":\"x\"}]}");
    assertThat(reading.end()).isInstanceOf(Answer.Failed.class);
    assertThat(((Answer.Failed) reading.end()).kind()).isEqualTo("truncated");
  }

  @Test
  void errorInTheStreamIsAFailure() {
    event(1, "{\"error\":{\"message\":\"out of memory\",\"code\":500}}");
    event(2, "[DONE]");
    assertThat(reading.end()).isEqualTo(new Answer.Failed("in stream", "out of memory"));
  }

  @Test
  void whatIsNotJsonIsAFailure() {
    event(1, "{\"choices\":[");
    assertThat(((Answer.Failed) reading.end()).kind()).isEqualTo("unreadable");
  }
}
