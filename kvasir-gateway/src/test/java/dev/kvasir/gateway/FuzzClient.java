package dev.kvasir.gateway;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/** Holds one conversation over a socket, and says what was wrong with the answers. */
final class FuzzClient {
  /** A server that answers others meanwhile has no excuse. */
  private static final int PATIENCE_MILLIS = 15_000;

  private static final int OTHERS_MILLIS = (int) TimeUnit.MINUTES.toMillis(2);
  private static final int TRICKLE_MILLIS = 20;

  /** Longest wait of a caller that leaves; it needs no answer to half a request. */
  private static final int LEAVING_MILLIS = 20;

  private static final int PIECES_MAX = 4;

  private final Socket socket;
  private final InputStream in;
  private final FuzzConversation conversation;
  private String body = "";

  private FuzzClient(Socket socket, FuzzConversation conversation) throws IOException {
    this.socket = socket;
    boolean reads = conversation.end() == FuzzConversation.End.READS;
    this.in = new BufferedInputStream(reads ? new Patient(socket) : socket.getInputStream());
    this.conversation = conversation;
  }

  /** Waits again as long as nobody else is answered either: then the machine is slow. */
  private static final class Patient extends FilterInputStream {
    private final int port;

    Patient(Socket socket) throws IOException {
      super(socket.getInputStream());
      this.port = socket.getPort();
    }

    @Override
    public int read(byte[] bytes, int from, int length) throws IOException {
      try {
        return super.read(bytes, from, length);
      } catch (SocketTimeoutException e) {
        requireOthersAreAnswered(port);
      }
      try {
        return super.read(bytes, from, length);
      } catch (SocketTimeoutException e) {
        throw new SocketTimeoutException(
            "nothing came for %d ms, though others were answered".formatted(2 * PATIENCE_MILLIS));
      }
    }
  }

  private static void requireOthersAreAnswered(int port) throws IOException {
    try (var other = new Socket(InetAddress.getLoopbackAddress(), port)) {
      other.setSoTimeout(OTHERS_MILLIS);
      var request = "GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n";
      other.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
      var first = new String(other.getInputStream().readNBytes(12), StandardCharsets.ISO_8859_1);
      if (!first.equals("HTTP/1.1 200")) {
        throw new IOException("others are answered with \"" + first + "\"");
      }
    }
  }

  /** Throws where an answer is missing or must not be. */
  static void hold(int port, FuzzConversation conversation) throws IOException {
    try (var socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setTcpNoDelay(true);
      socket.setSoTimeout(PATIENCE_MILLIS);
      new FuzzClient(socket, conversation).hold();
    }
  }

  private void hold() throws IOException {
    if (conversation.end() == FuzzConversation.End.STALLS) {
      stall();
      return;
    }
    if (conversation.end() == FuzzConversation.End.READS) {
      try {
        write();
      } catch (IOException e) {
        // Who is refused early may find that the server reads no more; the answer is there.
      }
      read();
      return;
    }
    try {
      write();
      socket.setSoTimeout(LEAVING_MILLIS);
      if (conversation.seed() % 2 == 0) in.skipNBytes(1);
    } catch (IOException e) {
      return;
    }
    if (conversation.end() == FuzzConversation.End.RESETS) socket.setSoLinger(true, 0);
  }

  /** Writes a body but for its end, in silence or a byte now and then; the server must not wait. */
  private void stall() throws IOException {
    int held = conversation.heldBack();
    try {
      write();
      socket.setSoTimeout(TRICKLE_MILLIS);
      for (int waited = 0; waited < PATIENCE_MILLIS; waited += TRICKLE_MILLIS) {
        if (isEnded()) return;
        if (conversation.seed() % 3 == 0 && held > 1) {
          socket.getOutputStream().write(' ');
          held--;
        }
      }
    } catch (SocketException e) {
      return;
    }
    requireOthersAreAnswered(socket.getPort());
    throw new IOException(
        "a body that stalls, %d bytes before its end, is still waited for after %d ms"
            .formatted(held, PATIENCE_MILLIS));
  }

  private boolean isEnded() throws IOException {
    try {
      return in.read() < 0;
    } catch (SocketTimeoutException e) {
      return false;
    }
  }

  /** In a few pieces, cut anywhere. */
  private void write() throws IOException {
    var bytes = conversation.written();
    var random = new SplittableRandom(conversation.seed());
    var out = socket.getOutputStream();
    int at = 0;
    for (int i = random.nextInt(PIECES_MAX); i > 0 && at < bytes.length; i--) {
      int size = 1 + random.nextInt(bytes.length - at);
      out.write(bytes, at, size);
      at += size;
    }
    out.write(bytes, at, bytes.length - at);
  }

  private void read() throws IOException {
    for (var request : conversation.requests()) {
      int status = status(request);
      if (request.expected().allows(status) || isLateRouter(status)) continue;
      throw new IOException(status + " for " + request + ": " + body);
    }
  }

  /** On a busy machine the router may answer later than whoever asks for readiness waits. */
  private boolean isLateRouter(int status) {
    return status == 503 && body.contains("router_hangs");
  }

  private int status(FuzzConversation.Request request) throws IOException {
    try {
      return status();
    } catch (IOException e) {
      throw new IOException("no answer to " + request + ": " + e, e);
    }
  }

  /** Reads one answer to its end. */
  private int status() throws IOException {
    var first = line();
    int status = Integer.parseInt(first.substring(9, 12));
    long length = 0;
    boolean chunked = false;
    for (var line = line(); !line.isEmpty(); line = line()) {
      var header = line.toLowerCase(Locale.ROOT);
      if (header.startsWith("content-length:"))
        length = Long.parseLong(header.substring(15).strip());
      if (header.startsWith("transfer-encoding: chunked")) chunked = true;
    }
    if (chunked) skipChunks();
    else body = new String(in.readNBytes((int) length), StandardCharsets.UTF_8);
    return status;
  }

  private void skipChunks() throws IOException {
    for (int size = size(); size > 0; size = size()) in.skipNBytes(size + 2L);
    in.skipNBytes(2);
  }

  private int size() throws IOException {
    return Integer.parseInt(line(), 16);
  }

  private String line() throws IOException {
    var line = new StringBuilder();
    for (int next = in.read(); next != '\n'; next = in.read()) {
      if (next < 0) throw new EOFException("the server closed after \"" + line + "\"");
      if (next != '\r') line.append((char) next);
    }
    return line.toString();
  }
}
