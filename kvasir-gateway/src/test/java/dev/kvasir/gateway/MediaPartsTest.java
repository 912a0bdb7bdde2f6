package dev.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.gateway.journal.PromptNames;
import dev.kvasir.gateway.request.ApiPath;
import dev.kvasir.gateway.request.BlockNamer;
import dev.kvasir.gateway.request.MediaParts;
import dev.kvasir.gateway.request.RequestFields;
import dev.kvasir.gateway.worker.Routing;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class MediaPartsTest {
  private static final int IMAGE_BYTES = 600_000;
  private static final String BEFORE = "Look at this picture. ".repeat(40);

  @Test
  void anImageCountsAsAFixedNumberOfTokensAndNotAsText() {
    int text = names(chat(text(BEFORE))).tokens();
    int image = names(chat(text(BEFORE), image("A"))).tokens();
    assertThat(image - text).isBetween(MediaParts.TOKENS, MediaParts.TOKENS + 1);
  }

  @Test
  void audioVideoAndFilesCountTheSame() {
    var data = "x".repeat(IMAGE_BYTES);
    for (var part :
        new String[] {
          "{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"" + data + "\"}}",
          "{\"type\":\"video_url\",\"video_url\":{\"url\":\"" + data + "\"}}",
          "{\"type\":\"file\",\"file\":{\"file_data\":\"" + data + "\"}}",
          "{\"image_url\":\"" + data + "\"}"
        }) {
      int tokens = names(chat(part)).tokens();
      assertThat(tokens).isBetween(MediaParts.TOKENS, MediaParts.TOKENS + 20);
    }
  }

  @Test
  void textInPartsIsStillText() {
    var long1 = "word ".repeat(1_000);
    assertThat(names(chat(text(long1))).tokens()).isGreaterThan(1_250);
    assertThat(names(chat("{\"text\":\"" + long1 + "\"}")).tokens()).isGreaterThan(1_250);
    assertThat(names(chat("\"" + long1 + "\"")).tokens()).isGreaterThan(1_250);
  }

  @Test
  void blocksWithAnotherImageHaveAnotherNameAndThoseBeforeItTheSame() {
    var one = names(chat(text(BEFORE), image("A"))).blocks();
    var same = names(chat(text(BEFORE), image("A"))).blocks();
    var other = names(chat(text(BEFORE), image("B"))).blocks();
    assertThat(one).isEqualTo(same).hasSameSizeAs(other);
    int before = BEFORE.length() / 4 / 16;
    assertThat(other.subList(0, before)).isEqualTo(one.subList(0, before));
    assertThat(other.subList(before + 2, other.size()))
        .doesNotContainAnyElementsOf(one.subList(before + 2, one.size()));
  }

  @Test
  void messagesOfAnyFormAreNamed() {
    for (var messages : new String[] {"[]", "\"x\"", "7", "[7]", "[{\"content\":null}]", "{}"}) {
      assertThat(names("{\"messages\":" + messages + "}").tokens()).isPositive();
    }
  }

  @Test
  void anImageMakesNoPromptHeavyWhateverPromptsAreNamedBy() throws Exception {
    for (var naming : Routing.Naming.values()) {
      try (var scene = new Scene()) {
        scene.reopen(s -> s.with(s.routing().with(naming)));
        var image = chat(text("What is this?"), image("A"));
        var answer = scene.post(Scene.CHAT, image);
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.headers().firstValue("x-kvasir-route-class")).contains("MEDIUM");
        var other = scene.post(Scene.CHAT, chat(text("What is this?"), image("B")));
        assertThat(other.headers().firstValue("x-kvasir-cached-tokens"))
            .as(naming.name())
            .hasValueSatisfying(cached -> assertThat(Integer.parseInt(cached)).isLessThan(64));
      }
    }
  }

  private static PromptNames names(String body) {
    var fields = RequestFields.of(body.getBytes(StandardCharsets.UTF_8));
    return BlockNamer.ofBytes(ApiPath.CHAT, fields, "model", "", 16);
  }

  private static String chat(String... parts) {
    var content = "[" + String.join(",", parts) + "]";
    return "{\"model\":\"tiny\",\"messages\":[{\"role\":\"user\",\"content\":" + content + "}]}";
  }

  private static String text(String text) {
    return "{\"type\":\"text\",\"text\":\"" + text + "\"}";
  }

  private static String image(String letter) {
    var data = letter.repeat(IMAGE_BYTES);
    return "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/jpeg;base64,"
        + data
        + "\"}}";
  }
}
