package dev.kvasir.net.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** A connection on which a test writes what no client library would. */
public final class RawClient implements AutoCloseable {
  private static final int PATIENCE_MILLIS = 20_000;

  private final Socket socket;

  private RawClient(Socket socket) {
    this.socket = socket;
  }

  public static RawClient connect(int port) throws IOException {
    var socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setSoTimeout(PATIENCE_MILLIS);
    return new RawClient(socket);
  }

  /** The head of a request to this machine. */
  public static String head(String first, String... headers) {
    var lines = List.of(headers).stream().map(header -> header + "\r\n").toList();
    return first + " HTTP/1.1\r\nhost: localhost\r\n" + String.join("", lines) + "\r\n";
  }

  /** The head of a request with a body of JSON. */
  public static String post(String path, long length, String... headers) {
    var more = String.join("", List.of(headers).stream().map(each -> each + "\r\n").toList());
    return head(
        "POST " + path, more + "content-type: application/json", "content-length: " + length);
  }

  public RawClient write(String text) throws IOException {
    return write(text.getBytes(StandardCharsets.UTF_8));
  }

  public RawClient write(byte[] bytes) throws IOException {
    socket.getOutputStream().write(bytes);
    return this;
  }

  /** All that comes until the other side closes; nothing where it resets. */
  public String read() {
    try {
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    } catch (SocketTimeoutException e) {
      throw new UncheckedIOException("the other side did not close", e);
    } catch (IOException e) {
      return "";
    }
  }

  /** Returns false once the other side has closed; nothing may be on its way from there. */
  public boolean isOpen() {
    try {
      socket.setSoTimeout(1);
      int next = socket.getInputStream().read();
      if (next >= 0) throw new IllegalStateException("read " + next);
      return false;
    } catch (SocketTimeoutException e) {
      return true;
    } catch (IOException e) {
      return false;
    } finally {
      patient();
    }
  }

  private void patient() {
    try {
      socket.setSoTimeout(PATIENCE_MILLIS);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The first line that comes; empty where the other side closes. */
  public String status() throws IOException {
    var line = new StringBuilder();
    for (int next = socket.getInputStream().read(); next >= 0 && next != '\r'; ) {
      line.append((char) next);
      next = socket.getInputStream().read();
    }
    return line.toString();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
