package dev.kvasir.net.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.kvasir.net.Json;
import dev.kvasir.net.Refused;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import org.junit.jupiter.api.Test;

class JsonTest {
  @Test
  void brokenJsonIsToldInPlainWordsWithItsPlace() {
    var expected = new LinkedHashMap<String, String>();
    expected.put("{\"a\": x}", "unexpected 'x' at line 1, column 7");
    expected.put("{\"a\": 1,\n \"b\" 2}", "unexpected '2' at line 2, column 6");
    expected.put("{\"a\": 1,}", "unexpected '}' at line 1, column 9");
    expected.put("{'a': 1}", "unexpected ''' at line 1, column 2");
    expected.put("{\"a\": [1, 2", "it ends at byte 11, before it is complete");
    expected.put("{\"a\": \"text", "it ends at byte 11, before it is complete");
    expected.put("{\"a\": 1, \"a\": 2}", "a name stands twice in one object, at line 1, column");
    expected.put("{\"a\": \"tab\there\"}", "unexpected byte 0x09 at line 1, column 11");
    expected.put("{\"a\": nul}", "unexpected ");
    expected.put("{\"a\": 01}", "unexpected ");
    expected.put("[".repeat(100), "it goes beyond a limit; at most 64 levels");
    expected.forEach(
        (body, problem) ->
            assertThat(refusal(body))
                .as(body)
                .startsWith("the body is not valid JSON: " + problem)
                .doesNotContain("Feature", "Jackson", "Source", "expecting", "Exception"));
  }

  @Test
  void bytesThatAreNoTextAreTold() {
    var bytes = "{\"abcdef\": \"?\"}".getBytes(StandardCharsets.UTF_8);
    bytes[12] = (byte) 0xc3;
    assertThat(refusal(bytes)).contains("unexpected ", " at line 1, column 1");
  }

  private static String refusal(String body) {
    return refusal(body.getBytes(StandardCharsets.UTF_8));
  }

  private static String refusal(byte[] body) {
    return catchThrowableOfType(Refused.class, () -> Json.read(body)).error().message();
  }
}
