package dev.kvasir.net.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.Nullable;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class AnswerParserTest {
  private static final String OK = "HTTP/1.1 200 OK\r\n";
  private static final String CHUNKED = OK + "Transfer-Encoding: chunked\r\n\r\n";

  /** Sink that collects one answer. */
  private static final class Received implements AnswerParser.Sink {
    private @Nullable AnswerHead head;
    private final Buffer body = Buffer.buffer();
    private final AnswerParser parser = new AnswerParser(this);
    private int behind;

    Received() {
      parser.expect(HttpMethod.GET);
    }

    static Received of(String... pieces) throws MalformedAnswer {
      var received = new Received();
      for (var piece : pieces) received.feed(piece);
      return received;
    }

    Received feed(String piece) throws MalformedAnswer {
      behind += parser.feed(Buffer.buffer(piece.getBytes(StandardCharsets.ISO_8859_1)));
      return this;
    }

    @Override
    public void head(AnswerHead come) {
      assertThat(head).as("a second head").isNull();
      head = come;
    }

    @Override
    public void part(Buffer part) {
      assertThat(head).as("a head before the body").isNotNull();
      assertThat(part.length()).isPositive();
      body.appendBuffer(part);
    }

    @Override
    public boolean isDeaf() {
      return false;
    }

    String text() {
      var status = head == null ? "-" : head.status() + " " + head.headers().entries();
      return status + " " + body.toString(StandardCharsets.ISO_8859_1) + " " + parser.isDone();
    }
  }

  private static String status(String answer) throws MalformedAnswer {
    var head = Received.of(answer).head;
    return head == null ? "none" : Integer.toString(head.status());
  }

  private static final List<String> ANSWERS =
      List.of(
          OK + "Content-Length: 5\r\n\r\nhello",
          OK + "content-length:0\r\nX-A: 1\r\nx-a: 2\r\n\r\n",
          CHUNKED + "5\r\nhello\r\n1\r\n \r\n00a\r\n0123456789\r\n0\r\n\r\n",
          CHUNKED + "5;name=\"a;b\"\r\nhello\r\n5 ; x\r\nworld\r\n0;last\r\nA: b\r\nC: d\r\n\r\n",
          "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nlink: x\r\n\r\n"
              + CHUNKED
              + "1\r\nx\r\n0\r\n\r\n",
          "HTTP/1.1 204 No Content\r\n\r\n",
          "HTTP/1.1 304\r\ncontent-length: 7\r\n\r\n",
          "HTTP/1.1 200 \ncontent-length: 2\nx: \t a b\t \n\nok",
          CHUNKED + "2\nok\n0\n\n");

  @Test
  void anAnswerReadsTheSameHoweverItIsCut() throws MalformedAnswer {
    for (var answer : ANSWERS) {
      var whole = Received.of(answer);
      assertThat(whole.parser.isDone()).as(answer).isTrue();
      assertThat(whole.behind).isZero();
      for (int cut = 0; cut <= answer.length(); cut++) {
        var cutOnce = Received.of(answer.substring(0, cut), answer.substring(cut));
        assertThat(cutOnce.text()).as(answer + " cut at " + cut).isEqualTo(whole.text());
      }
      assertThat(Received.of(answer.split("")).text()).as(answer).isEqualTo(whole.text());
    }
  }

  @Test
  void anAnswerIsWholeOnlyWithItsLastByte() throws MalformedAnswer {
    for (var answer : ANSWERS) {
      for (int cut = 0; cut < answer.length(); cut++) {
        var received = Received.of(answer.substring(0, cut));
        assertThat(received.parser.isDone()).as(answer + " cut at " + cut).isFalse();
        assertThat(received.parser.endsWithConnection()).isFalse();
      }
    }
  }

  @Test
  void theBodyIsWithoutItsFraming() throws MalformedAnswer {
    assertThat(Received.of(ANSWERS.get(2)).body).hasToString("hello 0123456789");
    assertThat(Received.of(ANSWERS.get(3)).body).hasToString("helloworld");
    assertThat(status(ANSWERS.get(4))).isEqualTo("200");
  }

  @Test
  void bytesBehindAnAnswerAreCounted() throws MalformedAnswer {
    assertThat(Received.of(OK + "content-length: 2\r\n\r\nok" + "HTTP").behind).isEqualTo(4);
    assertThat(Received.of(CHUNKED + "0\r\n\r\n\r\n").behind).isEqualTo(2);
    assertThat(Received.of("HTTP/1.1 204 No\r\n\r\nbody").behind).isEqualTo(4);
  }

  @Test
  void anAnswerToHeadHasNoBody() throws MalformedAnswer {
    var received = new Received();
    received.parser.expect(HttpMethod.HEAD);
    received.feed(OK + "content-length: 500\r\n\r\n");
    assertThat(received.parser.isDone()).isTrue();
  }

  @Test
  void anAnswerWithoutFramingEndsWithTheConnection() throws MalformedAnswer {
    var received = Received.of(OK + "\r\nsome", " more");
    assertThat(received.body).hasToString("some more");
    assertThat(received.parser.isDone()).isFalse();
    assertThat(received.parser.endsWithConnection()).isTrue();
  }

  @Test
  void theConnectionIsKeptAsItsServerSays() throws MalformedAnswer {
    assertThat(kept("1.1")).isTrue();
    assertThat(kept("1.1", "connection: x, CLOSE")).isFalse();
    assertThat(kept("1.0")).isFalse();
    assertThat(kept("1.0", "Connection: Keep-Alive")).isTrue();
    assertThat(kept("1.0", "Connection: keep-alive", "connection: close")).isFalse();
  }

  private static boolean kept(String version, String... headers) throws MalformedAnswer {
    var lines = headers.length == 0 ? "" : String.join("\r\n", headers) + "\r\n";
    return head("HTTP/" + version + " 200 OK\r\ncontent-length: 0\r\n" + lines).isKept();
  }

  private static AnswerHead head(String lines) throws MalformedAnswer {
    var head = Received.of(lines + "\r\n").head;
    if (head == null) throw new AssertionError("no head in " + lines);
    return head;
  }

  @Test
  void theTimeForWhichAServerKeepsAConnectionIsRead() throws MalformedAnswer {
    var begin = OK + "content-length: 0\r\n";
    assertThat(head(begin).keptSeconds()).isNull();
    assertThat(head(begin + "keep-alive: max=3, Timeout=5\r\n").keptSeconds()).isEqualTo(5);
    assertThat(head(begin + "keep-alive: timeout=x\r\n").keptSeconds()).isNull();
  }

  @Test
  void aHeadThatIsNotHttpIsRefused() {
    var heads =
        List.of(
            "HTTP/2.0 200 OK\r\n\r\n",
            "HTTP/1.2 200 OK\r\n\r\n",
            "ICY 200 OK\r\n\r\n",
            "HTTP/1.1 20 OK\r\n\r\n",
            "HTTP/1.1 2000 OK\r\n\r\n",
            "HTTP/1.1 099 OK\r\n\r\n",
            "HTTP/1.1  200 OK\r\n\r\n",
            "HTTP/1.1 101 Other\r\n\r\n",
            "\r\n\r\n",
            OK + "no colon\r\n\r\n",
            OK + ": value\r\n\r\n",
            OK + "a b: c\r\n\r\n",
            OK + "a : c\r\n\r\n",
            OK + " folded: c\r\n\r\n",
            OK + "a: b\r\n folded\r\n\r\n",
            OK + "a: b\rc\r\n\r\n",
            OK + "a: b\0c\r\n\r\n",
            "HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
    for (var each : heads) refused(each);
  }

  @Test
  void framingThatContradictsItselfIsRefused() {
    var lines =
        List.of(
            "content-length: 5\r\ntransfer-encoding: chunked",
            "content-length: 5\r\ncontent-length: 6",
            "content-length: 5, 5",
            "content-length: +5",
            "content-length: -5",
            "content-length: 0x5",
            "content-length:",
            "content-length: 9999999999999999999",
            "transfer-encoding: gzip, chunked",
            "transfer-encoding: chunked\r\ntransfer-encoding: chunked",
            "transfer-encoding: identity");
    for (var each : lines) refused(OK + each + "\r\n\r\n");
  }

  @Test
  void chunksThatAreNotAsTheySayAreRefused() {
    var chunks =
        List.of(
            "\r\n",
            "x\r\n",
            "-1\r\n",
            "0x5\r\nhello\r\n",
            " 5\r\nhello\r\n",
            "5 5\r\nhello\r\n",
            "5\r6\r\nhello\r\n",
            "ffffffffffffffff\r\n",
            "0000000000000005\r\nhello\r\n",
            "5\r\nhello!\r\n0\r\n\r\n",
            "5\r\nhello0\r\n\r\n",
            "5;" + "x".repeat(AnswerParser.SIZE_BYTES_MAX));
    for (var each : chunks) refused(CHUNKED + each);
  }

  @Test
  void headsAndTrailersAreBounded() {
    var line = "x: " + "y".repeat(100) + "\r\n";
    int lines = AnswerParser.HEAD_BYTES_MAX / line.length() + 1;
    refused(OK + line.repeat(lines));
    refused("H".repeat(AnswerParser.HEAD_BYTES_MAX + 1));
    refused(CHUNKED + "0\r\n" + line.repeat(lines));
  }

  @Test
  void whatBeginsUnlikeAnAnswerIsRefusedAtItsFirstWrongByte() throws MalformedAnswer {
    for (var begin : List.of("x", "HTTP/2", "HTTP/1,", "\0", "\r", "http", "HTTX", " HTTP/1.1")) {
      refused(begin);
    }
    refused("HTTP/1.1 100 Continue\r\n\r\nx");
    for (var begin : List.of("H", "HTTP/1", "HTTP/1.", "HTTP/1.1 200 OK\r\na: b")) {
      var received = Received.of(begin);
      assertThat(received.parser.isWithinHead()).as(begin).isTrue();
      assertThat(received.head).isNull();
    }
  }

  @Test
  void interimAnswersAreBoundedInNumber() throws MalformedAnswer {
    var interim = "HTTP/1.1 103 Early\r\nlink: x\r\n\r\n";
    var answer = OK + "content-length: 0\r\n\r\n";
    assertThat(status(interim.repeat(AnswerParser.INTERIMS_MAX) + answer)).isEqualTo("200");
    refused(interim.repeat(AnswerParser.INTERIMS_MAX + 1));
    var received = Received.of(interim.repeat(AnswerParser.INTERIMS_MAX) + answer);
    received.head = null;
    received.parser.expect(HttpMethod.GET);
    received.feed(interim + answer);
    assertThat(received.parser.isDone()).isTrue();
  }

  private static void refused(String answer) {
    assertThatThrownBy(() -> Received.of(answer)).as(answer).isInstanceOf(MalformedAnswer.class);
    assertThatThrownBy(() -> Received.of(answer.split("")))
        .as(answer)
        .isInstanceOf(MalformedAnswer.class);
  }

  @Test
  void aHeadThatRepeatsIsReadAsTheFirst() throws MalformedAnswer {
    var received = Received.of(OK + "content-length: 2\r\n\r\nab");
    var first = received.head;
    received.head = null;
    received.parser.expect(HttpMethod.GET);
    received.feed(OK + "content-length: 2\r\n\r\ncd");
    assertThat(received.head).isSameAs(first);
    received.head = null;
    received.parser.expect(HttpMethod.GET);
    received.feed(OK + "content-length: 3\r\n\r\ne");
    assertThat(received.parser.isDone()).isFalse();
    assertThat(received.feed("fg").parser.isDone()).isTrue();
    assertThat(received.body).hasToString("abcdefg");
  }
}
