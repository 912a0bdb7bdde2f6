package dev.kvasir.net.openai;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class UsageTest {
  @Test
  void aCountThatNoModelCanReachIsUnknown() {
    assertThat(read("{\"prompt_tokens\":7,\"completion_tokens\":2147483647}"))
        .isEqualTo(new Usage(7, -1, -1));
    assertThat(read("{\"prompt_tokens\":-7,\"completion_tokens\":16777216}"))
        .isEqualTo(new Usage(-1, 16_777_216, -1));
    assertThat(read("{\"prompt_tokens\":1e99,\"prompt_tokens_details\":{\"cached_tokens\":3}}"))
        .isEqualTo(new Usage(-1, -1, 3));
  }

  private static Usage read(String usage) {
    return Usage.of(("{\"usage\":" + usage + "}").getBytes(StandardCharsets.UTF_8));
  }
}
