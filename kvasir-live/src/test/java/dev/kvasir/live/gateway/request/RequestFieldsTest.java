package dev.kvasir.live.gateway.request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.live.gateway.journal.PromptNames;
import dev.kvasir.live.http.Refused;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class RequestFieldsTest {
  private static final String BODY =
      "{ \"model\" : \"größe\" ,\n\"n\":1.50,\"stream\":true, \"tools\":[{\"a\":{}},\"]\"],"
          + "\"nothing\":null}";

  @Test
  void valuesAreFoundWhereTheyStand() {
    var fields = fields(BODY);
    assertThat(fields.text("model")).isEqualTo("größe");
    assertThat(fields.isTrue("stream")).isTrue();
    assertThat(fields.value("nothing")).isNull();
    assertThat(fields.text("absent")).isEmpty();
    assertThat(new String(fields.raw("tools"), StandardCharsets.UTF_8))
        .isEqualTo("[{\"a\":{}},\"]\"]");
    assertThat(new String(fields.raw("n"), StandardCharsets.UTF_8)).isEqualTo("1.50");
  }

  @Test
  void whatIsNotChangedStaysAsItCame() {
    var fields = fields(BODY);
    assertThat(fields.edit().buffer().toString()).isEqualTo(BODY);
    var edited = fields.edit().set("stream", "false").remove("n").replace("x", "1").buffer();
    assertThat(edited.toString())
        .isEqualTo(
            "{\"model\" : \"größe\",\"tools\":[{\"a\":{}},\"]\"],\"nothing\":null,"
                + "\"stream\":false}");
    assertThat(fields.only("n", "absent").toString()).isEqualTo("{\"n\":1.50}");
    assertThat(fields("{}").edit().set("a", "1").buffer().toString()).isEqualTo("{\"a\":1}");
  }

  @Test
  void whatIsNoObjectOfItsOwnIsRefused() {
    var deep = "{\"a\":" + "[".repeat(100) + "]".repeat(100) + "}";
    for (var body : new String[] {"", "1", "[]", "{\"a\":1", "{}{}", "{\"a\":1,\"a\":2}", deep}) {
      assertThatThrownBy(() -> fields(body)).as(body).isInstanceOf(Refused.class);
    }
  }

  @Test
  void promptsThatBeginAlikeHaveNamesThatBeginAlike() {
    var beginning = "once upon a time there was a prompt ".repeat(20);
    var one = names(beginning + "one ".repeat(50), "");
    var two = names(beginning + "two ".repeat(50), "");
    int shared = 0;
    while (one.blocks().get(shared).equals(two.blocks().get(shared))) shared++;
    assertThat(shared).isBetween(10, one.blocks().size() - 1);
    assertThat(names(beginning, "salt").blocks()).doesNotContainAnyElementsOf(one.blocks());
    assertThat(one.isWhole(16)).isTrue();
    assertThat(one.tokens()).isGreaterThan(beginning.length() / 4);
  }

  private static PromptNames names(String prompt, String salt) {
    var fields = fields("{\"messages\":[{\"role\":\"user\",\"content\":\"" + prompt + "\"}]}");
    return BlockNamer.ofBytes(ApiPath.CHAT, fields, "model", salt, 16);
  }

  private static RequestFields fields(String body) {
    return RequestFields.of(body.getBytes(StandardCharsets.UTF_8));
  }
}
