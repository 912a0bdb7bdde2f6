package dev.kvasir.gateway;

import java.io.ByteArrayOutputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * All that one caller writes on one connection, made from a seed: requests that are right, almost
 * right and wrong, and perhaps an end in the middle of one.
 */
final class FuzzConversation {
  /** Ways in which the caller leaves. */
  enum End {
    /** Reads all answers. */
    READS,
    /** Closes after it wrote, whatever comes. */
    CLOSES,
    /** Breaks the connection after it wrote. */
    RESETS,
    /** Keeps back the end of a body, and waits for the server to give it up. */
    STALLS
  }

  /** The statuses that may answer a request. */
  enum Answer {
    GOOD(200, 299),
    REFUSED(400, 499),
    /** Nobody can tell beforehand, but it is no fault of the server. */
    ANY(200, 499),
    /** Answers when something that the server needs is broken: it does without, or says so. */
    BROKEN(200, 500);

    private final int least;
    private final int most;

    Answer(int least, int most) {
      this.least = least;
      this.most = most;
    }

    boolean allows(int status) {
      return status >= least && status <= most;
    }
  }

  static final List<String> KEYS = List.of("key-of-ada", "key-of-bob", "key-of-root");

  /**
   * A request as it was written.
   *
   * @param beginning of its body, or of all of it, for messages
   */
  record Request(Answer expected, String beginning) {}

  private static final int SHOWN = 200;
  private static final String JSON = "content-type: application/json";
  private static final int REQUESTS_MAX = 48;
  private static final int STALLED_BYTES_MAX = 100_000;

  private final long seed;
  private final boolean keyed;
  private final int sessionMax;
  private final SplittableRandom random;
  private final FuzzJson json;
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final List<Request> requests = new ArrayList<>();
  private final End end;
  private int heldBack;

  /**
   * The conversation of a seed.
   *
   * @param server to which it is sent
   * @param sessionMax how long the names of some sessions may be
   */
  FuzzConversation(long seed, Server server, int sessionMax) {
    this.seed = seed;
    this.sessionMax = sessionMax;
    this.keyed = server == Server.KEYED;
    this.random = new SplittableRandom(seed);
    this.json = new FuzzJson(random);
    if (server == Server.PROMPT) {
      stall();
      this.end = End.STALLS;
      return;
    }
    int count = 1 + random.nextInt(REQUESTS_MAX);
    for (int i = 0; i < count; i++) ordinary();
    if (one(3)) last();
    this.end = one(6) ? one(2) ? End.CLOSES : End.RESETS : End.READS;
  }

  /** Kinds of server, by what they ask for. */
  enum Server {
    /** Keys. */
    KEYED,
    /** Nothing. */
    OPEN,
    /** Bodies that come without a pause. */
    PROMPT
  }

  long seed() {
    return seed;
  }

  End end() {
    return end;
  }

  /** Returns the bytes to write; only a part of them if the caller does not stay. */
  byte[] written() {
    var all = bytes.toByteArray();
    if (end == End.READS || end == End.STALLS) return all;
    return Arrays.copyOf(all, new SplittableRandom(seed).nextInt(all.length + 1));
  }

  /** Those that are to be answered. */
  List<Request> requests() {
    return requests;
  }

  /** Returns how many bytes a stalled body lacks. */
  int heldBack() {
    return heldBack;
  }

  private boolean one(int in) {
    return random.nextInt(in) == 0;
  }

  private <T> T any(List<T> list) {
    return list.get(random.nextInt(list.size()));
  }

  /** A request after which the connection stays. */
  private void ordinary() {
    switch (random.nextInt(32)) {
      case 0, 1, 2, 3, 4, 5, 6, 7 -> get();
      case 8, 9 -> good();
      case 10, 11, 12, 13, 14 -> mistyped();
      case 15, 16, 17 -> post(json.mutated(), Answer.ANY);
      case 18, 19, 20, 21, 22, 23 -> post(json.broken(), Answer.REFUSED);
      case 24, 25, 26 -> encoded();
      case 27 -> rare();
      default -> post(json.session(sessionMax), Answer.GOOD);
    }
  }

  private void rare() {
    if (one(8)) post(json.nameless(), Answer.BROKEN);
    else form();
  }

  private void get() {
    var path =
        any(
            List.of(
                "/health", "/ready", "/v1/models", "/", "/dashboard/state", "/dashboard/main.js"));
    head("GET " + path, "");
    expect(Answer.GOOD, path);
  }

  private void good() {
    post(json.good(), Answer.GOOD);
  }

  /** A field of the wrong kind. */
  private void mistyped() {
    post(json.mistyped(), Answer.REFUSED);
  }

  private void encoded() {
    var charset = any(List.of("UTF-16", "UTF-16LE", "UTF-16BE", "UTF-32", "UTF-32LE"));
    post(json.good().getBytes(Charset.forName(charset)), Answer.REFUSED);
  }

  /** Audio comes as a form, which has its own parser. */
  private void form() {
    var line = "\r\ncontent-disposition: form-data; name=";
    var body =
        "--b" + line + "\"model\"\r\n\r\ntiny\r\n--b" + line + "\"file\"; filename=\"a\"\r\n";
    body += "\r\n" + "a".repeat(random.nextInt(9_000)) + "\r\n--b--\r\n";
    var answer = one(2) ? Answer.GOOD : Answer.REFUSED;
    if (answer == Answer.REFUSED) {
      body = one(2) ? body.replace("--b", "--c") : body.replace("tiny", "t".repeat(300));
    }
    var type = "content-type: multipart/form-data; boundary=b\r\n";
    head("POST /v1/audio/transcriptions", type + "content-length: " + body.length() + "\r\n");
    text(body);
    expect(answer, body);
  }

  /** A request whose body does not end. */
  private void stall() {
    int length = 2 + random.nextInt(STALLED_BYTES_MAX);
    int sent = one(2) ? length - 1 : random.nextInt(length);
    if (one(3)) {
      head("POST " + Scene.CHAT, JSON + "\r\ntransfer-encoding: chunked\r\n");
      text(Integer.toHexString(length) + "\r\n");
    } else {
      head("POST " + Scene.CHAT, JSON + "\r\ncontent-length: " + length + "\r\n");
    }
    text(" ".repeat(sent));
    heldBack = length - sent;
  }

  private void post(String body, Answer answer) {
    post(body.getBytes(StandardCharsets.UTF_8), answer);
  }

  private void post(byte[] body, Answer answer) {
    var path = one(4) ? "/v1/completions" : one(8) ? "/v1/embeddings" : Scene.CHAT;
    if (one(3)) {
      head("POST " + path, type() + "\r\ntransfer-encoding: chunked\r\n");
      chunks(body);
    } else {
      head("POST " + path, type() + "\r\ncontent-length: " + body.length + "\r\n");
      bytes.writeBytes(body);
    }
    expect(answer, new String(body, StandardCharsets.UTF_8));
  }

  private String type() {
    return switch (random.nextInt(4)) {
      case 0 -> "Content-Type: application/json; charset=utf-8";
      case 1 -> "CONTENT-TYPE:application/json";
      default -> JSON;
    };
  }

  private void chunks(byte[] body) {
    for (int at = 0; at < body.length; ) {
      int size = Math.min(body.length - at, 1 + random.nextInt(one(2) ? 4_000 : 100_000));
      var length = Integer.toHexString(size);
      if (one(2)) length = length.toUpperCase(Locale.ROOT);
      if (one(4)) length = "0".repeat(random.nextInt(6)) + length;
      if (one(6)) length += ";name=" + random.nextInt();
      text(length + "\r\n");
      bytes.write(body, at, size);
      text("\r\n");
      at += size;
    }
    text("0\r\n" + (one(4) ? "x-trailer: " + random.nextInt() + "\r\n" : "") + "\r\n");
  }

  private void head(String first, String more) {
    text(first + " HTTP/1.1\r\nhost: " + any(List.of("localhost", "127.0.0.1:8000", "[::1]")));
    text("\r\n" + more);
    if (keyed) text("authorization: Bearer " + any(KEYS) + "\r\n");
    if (one(4)) text(header());
    text("\r\n");
  }

  /** One that changes nothing, however odd it is. */
  private String header() {
    return switch (random.nextInt(8)) {
      case 0 -> "x-request-id: " + "i".repeat(random.nextInt(400)) + "\r\n";
      case 1 -> "x-session-id: " + "s".repeat(random.nextInt(4_000)) + random.nextInt() + "\r\n";
      case 2 -> "traceparent: 00-" + Long.toHexString(random.nextLong()) + "-1-1\r\n";
      case 3 -> "x-kvasir-explain: 1\r\naccept:\r\n";
      case 4 -> "User-Agent: \u00fc\t" + random.nextInt() + "\r\n";
      case 5 -> "x-y: 1\r\nx-y: 2\r\nX-Y: 3\r\n";
      case 6 -> "tracestate: a=b,\r\nconnection: keep-alive, x-foo\r\n";
      default -> "te: trailers\r\n";
    };
  }

  /** A request after which the server closes. */
  private void last() {
    switch (random.nextInt(14)) {
      case 0 -> wrong("GET /" + "p".repeat(1 + random.nextInt(7_000)), "");
      case 1 -> wrong("GET /" + "p".repeat(9_000 + random.nextInt(9_000)), "");
      case 2 -> wrong("GET /health", "x: " + "h".repeat(20_000) + "\r\n");
      case 3 -> wrong("GET /health", "x: 1\r\n".repeat(120));
      case 4 -> wrong("GET /health", "content-length: " + (1 + random.nextInt(1 << 24)) + "\r\n");
      case 5 -> wrong("GET /v1/models", "transfer-encoding: chunked\r\n");
      case 6 -> wrong("POST " + Scene.CHAT, "content-type: text/plain\r\ncontent-length: 2\r\n");
      case 7 -> wrong("POST " + Scene.CHAT, JSON + "\r\ncontent-length: 99999999999\r\n");
      case 8 -> wrong("PUT /health", "");
      case 9 ->
          wrong("POST " + Scene.CHAT, JSON + "\r\ncontent-length: 5\r\ncontent-length: 6\r\n");
      case 10 -> wrong("POST " + Scene.CHAT, JSON + "\r\ncontent-length: -1\r\n");
      case 11 -> multipart();
      case 12 -> stranger();
      default -> nonsense();
    }
  }

  private void wrong(String first, String more) {
    head(first, more);
    expect(Answer.REFUSED, first + " " + more);
  }

  private void multipart() {
    var body =
        "--b\r\ncontent-disposition: form-data; name=\"a\"\r\n\r\n" + json.good() + "\r\n--b--";
    var type = "content-type: multipart/form-data; boundary=b\r\n";
    wrong("POST " + Scene.CHAT, type + "content-length: " + body.length() + "\r\n");
    text(body);
  }

  /** Somebody without a right key, or a page of another server. */
  private void stranger() {
    if (keyed) text("POST " + Scene.CHAT + " HTTP/1.1\r\nhost: localhost\r\n" + JSON + "\r\n");
    else text("GET /health HTTP/1.1\r\nhost: evil.example\r\n");
    text((keyed ? "authorization: Bearer " + random.nextInt() : "origin: null") + "\r\n\r\n");
    expect(Answer.REFUSED, "a stranger");
  }

  /** Adds bytes that are no request; they are answered, or the connection is closed. */
  private void nonsense() {
    var lines =
        List.of(
            "GET /health SPDY/9\r\n\r\n",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            "\u0016\u0003\u0001\u0002\r\n\r\n",
            "GET /health HTTP/1.1\r\nno colon here\r\n\r\n",
            "GET /health HTTP/1.1\r\n: empty\r\n\r\n",
            "POST "
                + Scene.CHAT
                + " HTTP/1.1\r\n"
                + JSON
                + "\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
            "GET\r\n\r\n");
    text(any(lines));
  }

  private void expect(Answer answer, String beginning) {
    int length = Math.min(SHOWN, beginning.length());
    requests.add(new Request(answer, beginning.substring(0, length)));
  }

  private void text(String text) {
    bytes.writeBytes(text.getBytes(StandardCharsets.ISO_8859_1));
  }
}
