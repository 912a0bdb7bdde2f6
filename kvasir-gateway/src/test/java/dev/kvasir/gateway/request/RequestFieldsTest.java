package dev.kvasir.gateway.request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.Seeds;
import dev.kvasir.gateway.journal.PromptNames;
import dev.kvasir.net.Refused;
import dev.kvasir.net.server.Bodies;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class RequestFieldsTest {
  private static final String BODY =
      "{ \"model\" : \"größe\" ,\n\"n\":1.50,\"stream\":true, \"tools\":[{\"a\":{}},\"]\"],"
          + "\"nothing\":null}";

  private static final List<String> TYPES =
      List.of("\"text\"", "\"image_url\"", "\"tool_result\"", "\"message\"", "7", "null");

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

  /** The values of a long body are read one by one, those of a short one at once. */
  @Test
  void aLongBodySaysTheSameAsAShortOne() {
    var padding = ",\"padding\":\"" + "x".repeat(128 << 10) + "\"}";
    Seeds.each(
        200,
        random -> {
          var body =
              "{\"messages\":%s,\"n\":%s,\"big\":%s,\"s\":\"a\\u00e4\\n\",\"t\":true,\"z\":null"
                  .formatted(messages(random), random.nextLong(), "9".repeat(30) + ".5e3");
          var small = fields(body + "}");
          var large = fields(body + padding);
          assertThat(small.tree()).isNotNull();
          assertThat(large.tree()).isNull();
          for (var name : List.of("messages", "n", "big", "s", "t", "z", "absent")) {
            assertThat(small.value(name)).as(body).isEqualTo(large.value(name));
          }
          assertThat(BlockNamer.hasMedia(ApiPath.CHAT, small))
              .as(body)
              .isEqualTo(BlockNamer.hasMedia(ApiPath.CHAT, large));
        });
  }

  private static String messages(RandomGenerator random) {
    var messages = new ArrayList<String>();
    for (int i = random.nextInt(4); i > 0; i--) messages.add(part(random, 0));
    var list = messages.toString();
    return random.nextInt(8) == 0 ? part(random, 0) : list;
  }

  private static String part(RandomGenerator random, int depth) {
    var fields = new ArrayList<String>();
    if (random.nextBoolean()) fields.add("\"type\":" + of(random, TYPES));
    if (random.nextBoolean()) fields.add("\"text\":" + of(random, List.of("\"t\"", "null")));
    if (depth < 3 && random.nextBoolean()) {
      var inside = new ArrayList<String>();
      for (int i = random.nextInt(3); i > 0; i--) inside.add(part(random, depth + 1));
      var name = of(random, List.of("content", "output", "source"));
      fields.add("\"" + name + "\":" + (random.nextInt(4) == 0 ? "\"plain\"" : inside));
    }
    if (random.nextInt(16) == 0) return "[" + String.join(",", List.of("1.5", "[]", "{}")) + "]";
    return "{" + String.join(",", fields) + "}";
  }

  private static String of(RandomGenerator random, List<String> words) {
    return words.get(random.nextInt(words.size()));
  }

  @Test
  void halvesOfCharactersAreRefused() {
    var whole = "{\"a\":\"\\ud83d\\ude00 \ud83d\ude00\"}";
    assertThat(fields(whole).text("a")).isEqualTo("\ud83d\ude00 \ud83d\ude00");
    for (var half :
        new String[] {"\\ud83d", "\\ude00", "\\ude00\\ud83d", "\\ud83d\\ud83d\\ude00"}) {
      var fields = fields("{\"a\":\"" + half + "\"}");
      assertThatThrownBy(() -> fields.text("a")).as(half).isInstanceOf(Refused.class);
    }
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

  private static String repeated(String first, String piece, int count) {
    var text = new StringBuilder(first);
    for (int i = 0; i < count; i++) text.append(piece.formatted(i));
    return text.toString();
  }

  @Test
  void moreFieldsAndValuesThanAnybodyNeedsAreRefusedWithTheLimit() {
    var expected = new LinkedHashMap<String, String>();
    expected.put(repeated("{\"a\":1", ",\"f%d\":1", 1_000) + "}", "more than 1000 fields");
    expected.put(
        repeated("{\"a\":{\"b\":1", ",\"f%d\":1", 16_384) + "}}", "more than 16384 fields");
    expected.put(
        repeated("{\"tools\":[{}", ",{}", 600_000) + "]}", "1048576 names, values and brackets");
    expected.put(
        repeated("{\"prompt\":[1", ",1", 1 << 20) + "]}", "1048576 names, values and brackets");
    expected.forEach(
        (body, limit) ->
            assertThatThrownBy(() -> fields(body)).as(limit).hasMessageContaining(limit));
  }

  @Test
  void whatAgentsSendIsTaken() {
    var tools =
        repeated(
            "[{}",
            ",{\"type\":\"function\",\"function\":{\"name\":\"f%d\",\"parameters\":{}}}",
            20_000);
    var text = "text ".repeat(200);
    var messages = repeated("[{}", ",{\"role\":\"user\",\"content\":\"%d " + text + "\"}", 8_000);
    var agent = fields("{\"tools\":" + tools + "],\"messages\":" + messages + "]}");
    assertThat(agent.body().length).isGreaterThan(8 << 20);
    assertThat(agent.isFilled("tools")).isTrue();
    var tokens = fields(repeated("{\"prompt\":[1", ",12345", 1_000_000) + "]}");
    assertThat(tokens.isNumbers("prompt")).isTrue();
  }

  /** The memory of 1,000,000 bytes is for 500,000 of one caller. */
  @Test
  void whatBecomesLargerThanTheMemoryForItIsRefused() {
    var bodies = new Bodies(1_000_000);
    var small = repeated("{\"tools\":[{}", ",{}", 3_000) + "]}";
    var share = bodies.share("eve");
    RequestFields.of(small.getBytes(StandardCharsets.UTF_8), share);
    assertThat(bodies.reserved()).isBetween(300_000L, 500_000L);
    share.isRead();
    assertThat(bodies.reserved()).isZero();
    var large = repeated("{\"tools\":[{}", ",{}", 30_000) + "]}";
    assertThatThrownBy(() -> RequestFields.of(large.getBytes(StandardCharsets.UTF_8), share))
        .hasMessageContaining("send fewer fields and values");
    assertThat(bodies.reserved()).isZero();
  }

  @Test
  void aBodyIsNotReadOnWhenItsRequestIsOver() {
    var share = new Bodies(1L << 30).share("eve");
    share.end();
    var text = ",\"" + "x".repeat(400) + "\"";
    var large = repeated("{\"prompt\":[\"\"", text, 10_000) + "]}";
    assertThatThrownBy(() -> RequestFields.of(large.getBytes(StandardCharsets.UTF_8), share))
        .hasMessageContaining("over before it was read");
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
