package dev.kvasir.net.openai;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.buffer.Buffer;
import java.util.ArrayList;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class EventSplitterTest {
  private static final String STREAM =
      "data: {\"text\":\"größer\"}\n\n: a comment\n\ndata: {\"text\":\"\\n\"}\r\n\r\n"
          + "data: {\"choices\":[],\"usage\": {\"prompt_tokens\":5,\"completion_tokens\":2,"
          + "\"prompt_tokens_details\":{\"cached_tokens\":4}}}\n\ndata: [DONE]\n\n";

  @Test
  void anyPiecesMakeTheSameEvents() {
    var bytes = STREAM.getBytes(UTF_8);
    for (long seed = 0; seed < 200; seed++) {
      var random = new SplittableRandom(seed);
      var data = new ArrayList<String>();
      var splitter = new EventSplitter(line -> data.add(new String(line, UTF_8)));
      var out = Buffer.buffer();
      for (int at = 0; at < bytes.length; ) {
        int size = Math.min(bytes.length - at, 1 + random.nextInt(40));
        var whole = splitter.feed(Buffer.buffer().appendBytes(bytes, at, size));
        var text = whole.toString();
        if (!text.isEmpty()) assertThat(text).as("seed " + seed).endsWith("\n");
        out.appendBuffer(whole);
        at += size;
      }
      assertThat(out.toString()).isEqualTo(STREAM);
      assertThat(data)
          .hasSize(4)
          .startsWith("{\"text\":\"größer\"}", "{\"text\":\"\\n\"}")
          .endsWith("[DONE]");
      assertThat(splitter.events()).isEqualTo(3);
      assertThat(splitter.isDone()).isTrue();
      assertThat(splitter.hasError()).isFalse();
      assertThat(Usage.of(splitter.usage())).isEqualTo(new Usage(5, 2, 4));
    }
  }

  @Test
  void halfAnEventStaysBehind() {
    var splitter = new EventSplitter();
    var out = splitter.feed(Buffer.buffer("data: 1\n\ndata: {\"text\":\"gr"));
    assertThat(out.toString()).isEqualTo("data: 1\n\n");
    assertThat(splitter.feed(Buffer.buffer("o\"}\n")).length()).isZero();
    assertThat(splitter.feed(Buffer.buffer("\n")).toString())
        .isEqualTo("data: {\"text\":\"gro\"}\n\n");
  }

  @Test
  void anErrorIsSeenWhereItStands() {
    var first = new EventSplitter();
    first.feed(Buffer.buffer("data: {\"error\":{}}\n\n"));
    assertThat(first.beginsWithError()).isTrue();
    var later = new EventSplitter();
    later.feed(Buffer.buffer("data: {\"a\":1}\n\ndata: {\"error\":{}}\n\n"));
    assertThat(later.beginsWithError()).isFalse();
    assertThat(later.hasError()).isTrue();
  }

  @Test
  void anEventThatIsTooLargeGoesOnInPieces() {
    var splitter = new EventSplitter();
    int sent = 0;
    int kept = 0;
    for (int i = 0; i < 40; i++) {
      var piece = Buffer.buffer("x".repeat(64 << 10));
      sent += piece.length();
      kept += piece.length() - splitter.feed(piece).length();
      assertThat(kept).isLessThanOrEqualTo((1 << 20) + (64 << 10));
    }
    assertThat(splitter.isTorn()).isTrue();
    assertThat(sent).isGreaterThan(2 << 20);
  }
}
