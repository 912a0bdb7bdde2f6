package dev.kvasir.cli.serve;

import dev.kvasir.Nullable;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;

/** Asks for one stream over a connection of its own, and says how it ended. */
final class OpenStream {
  private static final int PATIENCE_MILLIS = 30_000;

  /** Ways in which a stream ends. */
  enum End {
    /** With {@code [DONE]}. */
    WHOLE,
    /** The answer had begun, and ended with an error event. */
    ERROR_EVENT,
    /** The connection broke. */
    BROKEN,
    /** 429. */
    REFUSED,
    /** Anything else. */
    OTHER
  }

  /**
   * Outcome of a stream.
   *
   * @param gateway which one was asked
   * @param worker which one answered; empty where nobody began to
   * @param sentNanos when it was sent
   */
  record Outcome(
      String key,
      End end,
      int gateway,
      String worker,
      long sentNanos,
      long endNanos,
      String text) {}

  private final List<URI> gateways;
  private final String key;
  private final String body;
  private String worker = "";
  private String text = "";

  OpenStream(List<URI> gateways, String key, String body) {
    this.gateways = gateways;
    this.key = key;
    this.body = body;
  }

  /** Asks the gateway with that number, or the next one that accepts a connection. */
  Outcome send(int first) {
    for (int i = 0; i < gateways.size(); i++) {
      int at = (first + i) % gateways.size();
      var socket = connect(gateways.get(at));
      if (socket == null) continue;
      long sentNanos = System.nanoTime();
      var end = send(socket, gateways.get(at));
      return new Outcome(key, end, at, worker, sentNanos, System.nanoTime(), text);
    }
    long now = System.nanoTime();
    return new Outcome(key, End.OTHER, -1, "", now, now, "no gateway accepts connections");
  }

  private static @Nullable Socket connect(URI gateway) {
    try {
      return new Socket(gateway.getHost(), gateway.getPort());
    } catch (IOException e) {
      return null;
    }
  }

  private End send(Socket connection, URI gateway) {
    try (var socket = connection) {
      socket.setTcpNoDelay(true);
      socket.setSoTimeout(PATIENCE_MILLIS);
      var bytes = body.getBytes(StandardCharsets.UTF_8);
      var head =
          """
          POST /v1/chat/completions HTTP/1.1\r
          host: %s\r
          content-type: application/json\r
          authorization: Bearer %s\r
          x-kvasir-explain: 1\r
          connection: close\r
          content-length: %d\r
          \r
          """
              .formatted(gateway.getAuthority(), key, bytes.length);
      socket.getOutputStream().write((head + body).getBytes(StandardCharsets.UTF_8));
      var in = new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8);
      return read(new BufferedReader(in));
    } catch (SocketException e) {
      return End.BROKEN;
    } catch (IOException e) {
      text += e;
      return End.OTHER;
    }
  }

  private End read(BufferedReader in) throws IOException {
    var status = in.readLine();
    if (status == null) return End.BROKEN;
    text = status;
    var end = End.BROKEN;
    for (var line = in.readLine(); line != null; line = in.readLine()) {
      if (line.toLowerCase(Locale.ROOT).startsWith("x-kvasir-instance:")) {
        worker = line.substring(line.indexOf(':') + 1).strip();
      }
      if (line.equals("data: [DONE]")) end = End.WHOLE;
      if (line.startsWith("data: ") && line.contains("\"error\"")) {
        text = status + " " + line;
        return End.ERROR_EVENT;
      }
      if (!status.contains(" 200 ") && line.contains("\"error\"")) text = status + " " + line;
    }
    if (status.contains(" 200 ")) return end;
    return status.contains(" 429 ") ? End.REFUSED : End.OTHER;
  }
}
