package dev.kvasir.gateway.request;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.net.openai.Usage;
import io.vertx.core.buffer.Buffer;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class UsageScannerTest {
  private static final String BOMB = "\"usage\":{";

  private static final String VLLM =
      """
      {"id":"chatcmpl-1","object":"chat.completion","choices":[{"index":0,"message":{"role":\
      "assistant","content":"the \\"usage\\": {\\"prompt_tokens\\": 9} of it"},"usage":null}],\
      "usage":{"prompt_tokens":31,"total_tokens":36,"completion_tokens":5,\
      "prompt_tokens_details":{"cached_tokens":16}},"kv_transfer_params":null}\
      """;

  private static final String SPACED =
      """
      {"id": "1", "usage" :\n {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9},\
       "metadata": {"weight_version": "default"}}\
      """;

  private static final String RESPONSES =
      """
      {"object":"response","output":[{"text":"usage"}],"usage":{"input_tokens":328,\
      "input_tokens_details":{"cached_tokens":300},"output_tokens":52,\
      "output_tokens_details":{"reasoning_tokens":0},"total_tokens":380}}\
      """;

  private static UsageScanner scanned(String text, int partBytes) {
    var scanner = new UsageScanner();
    var bytes = Buffer.buffer(text);
    for (int at = 0; at < bytes.length(); at += partBytes) {
      scanner.feed(bytes.slice(at, Math.min(bytes.length(), at + partBytes)));
    }
    assertThat(scanner.looked()).isEqualTo(bytes.length());
    return scanner;
  }

  @Test
  void accountsOfRealServersAreFoundHoweverTheyAreCut() {
    for (int part = 1; part < VLLM.length(); part++) {
      assertThat(scanned(VLLM, part).usage()).isEqualTo(new Usage(31, 5, 16));
      assertThat(scanned(SPACED, part).usage()).isEqualTo(new Usage(7, 2, -1));
      assertThat(scanned(RESPONSES, part).usage()).isEqualTo(new Usage(328, 52, 300));
    }
  }

  @Test
  void theLastOfSeveralAccountsCounts() {
    var text = "{\"usage\":{\"prompt_tokens\":1}},{\"usage\":{\"prompt_tokens\":2}}";
    assertThat(scanned(text, 9).usage().promptTokens()).isEqualTo(2);
  }

  @Test
  void anAccountBehindTheNameInAListOrBehindOneWithoutAnObjectIsFound() {
    for (var before : List.of("[\"usage\",", "{\"usage\":", "{\"usage\" \"x\":", "{\"u\"")) {
      var text = before + "\"usage\":{\"prompt_tokens\":3}}";
      for (int part = 1; part < text.length(); part++) {
        assertThat(scanned(text, part).usage().promptTokens()).as(before).isEqualTo(3);
      }
    }
  }

  @Test
  void eachByteIsLookedAtOnceThoughEachMayBeginAnAccount() {
    var bomb = BOMB.repeat(20_000);
    var plain = ",\"usage\":{\"prompt_tokens\":4}";
    for (int part = 1; part < 40; part++) {
      var scanner = scanned(bomb, part);
      assertThat(scanner.usage()).isEqualTo(Usage.UNKNOWN);
      assertThat(scanner.kept()).isLessThanOrEqualTo(2 * UsageScanner.OBJECT_BYTES_MAX);
    }
    // Behind it, an account is found all the same.
    var padding = "x".repeat(UsageScanner.OBJECT_BYTES_MAX);
    assertThat(scanned(bomb + padding + plain, 1_000).usage().promptTokens()).isEqualTo(4);
    var blanks = BOMB.substring(0, BOMB.length() - 1) + " ".repeat(100_000);
    assertThat(scanned(blanks + "{\"prompt_tokens\":5}", 7).usage().promptTokens()).isEqualTo(5);
  }

  @Test
  void anyCutOfAnyMixtureSaysTheSame() {
    var random = new SplittableRandom(7);
    var pieces =
        List.of("\"", "usage", "\"usage\"", ":", "{", "}", "\\", " ", "{\"prompt_tokens\":6}", "u");
    for (int i = 0; i < 2_000; i++) {
      var text = new StringBuilder();
      for (int j = 0; j < 30; j++) text.append(pieces.get(random.nextInt(pieces.size())));
      var whole = scanned(text.toString(), text.length()).usage();
      int part = 1 + random.nextInt(12);
      assertThat(scanned(text.toString(), part).usage()).as(text.toString()).isEqualTo(whole);
    }
  }
}
