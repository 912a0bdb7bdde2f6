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
    var told = new LinkedHashMap<String, String>();
    told.put("{\"a\": x}", "unexpected 'x' at line 1, column 7");
    told.put("{\"a\": 1,\n \"b\" 2}", "unexpected '2' at line 2, column 6");
    told.put("{\"a\": 1,}", "unexpected '}' at line 1, column 9");
    told.put("{'a': 1}", "unexpected ''' at line 1, column 2");
    told.put("{\"a\": [1, 2", "it ends at byte 11, before it is complete");
    told.put("{\"a\": \"text", "it ends at byte 11, before it is complete");
    told.put("{\"a\": 1, \"a\": 2}", "a name stands twice in one object, at line 1, column");
    told.put("{\"a\": \"tab\there\"}", "unexpected byte 0x09 at line 1, column 11");
    told.put("{\"a\": nul}", "unexpected ");
    told.put("{\"a\": 01}", "unexpected ");
    told.put("[".repeat(100), "it goes beyond a limit; at most 64 levels");
    told.forEach(
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
