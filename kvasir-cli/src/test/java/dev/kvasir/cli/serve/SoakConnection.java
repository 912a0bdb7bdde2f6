package dev.kvasir.cli.serve;

import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;

/**
 * A connection that one caller alone has, so that a broken one is the server's doing.
 *
 * <p>The JDK's client keeps its connections for all who ask, and one who leaves at the wrong moment
 * takes away the connection that another has just been given.
 */
final class SoakConnection implements AutoCloseable {
  /**
   * Answer to a request; the connection takes the next one when the body has been read to its end.
   */
  record Answer(int status, InputStream body) {}

  private final Socket socket;
  private final InputStream in;
  private final String host;

  SoakConnection(URI server, Duration patience) throws IOException {
    socket = new Socket(server.getHost(), server.getPort());
    socket.setTcpNoDelay(true);
    socket.setSoTimeout((int) patience.toMillis());
    in = new BufferedInputStream(socket.getInputStream());
    host = server.getAuthority();
  }

  void send(String path, String json) throws IOException {
    var body = json.getBytes(StandardCharsets.UTF_8);
    var head =
        """
        POST %s HTTP/1.1\r
        host: %s\r
        content-type: application/json\r
        content-length: %d\r
        \r
        """
            .formatted(path, host, body.length);
    var out = new ByteArrayOutputStream();
    out.writeBytes(head.getBytes(StandardCharsets.US_ASCII));
    out.writeBytes(body);
    out.writeTo(socket.getOutputStream());
  }

  Answer answer() throws IOException {
    int status = Integer.parseInt(line().split(" ", 3)[1]);
    int length = -1;
    for (var header = line(); !header.isEmpty(); header = line()) {
      var value = header.toLowerCase(Locale.ROOT).split(":", 2);
      if (value[0].equals("content-length")) length = Integer.parseInt(value[1].strip());
    }
    if (length < 0) return new Answer(status, new Chunks());
    return new Answer(status, new ByteArrayInputStream(read(length)));
  }

  private byte[] read(int length) throws IOException {
    var bytes = in.readNBytes(length);
    if (bytes.length < length) throw new EOFException(bytes.length + " of " + length + " bytes");
    return bytes;
  }

  private String line() throws IOException {
    var line = new StringBuilder();
    for (int next = in.read(); next != '\n'; next = in.read()) {
      if (next < 0) throw new EOFException("closed after \"" + line + "\"");
      if (next != '\r') line.append((char) next);
    }
    return line.toString();
  }

  /** Leaves without a word, whatever is still to come. */
  void abort() throws IOException {
    socket.setSoLinger(true, 0);
    close();
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A body whose length is not known before its end. */
  private final class Chunks extends InputStream {
    private byte[] chunk = {};
    private int at;
    private boolean over;

    @Override
    public int read() throws IOException {
      return fill() ? chunk[at++] & 0xff : -1;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
      if (!fill()) return -1;
      int count = Math.min(length, chunk.length - at);
      System.arraycopy(chunk, at, into, offset, count);
      at += count;
      return count;
    }

    private boolean fill() throws IOException {
      if (over || at < chunk.length) return !over;
      chunk = SoakConnection.this.read(Integer.parseInt(line(), 16));
      at = 0;
      var end = line();
      if (!end.isEmpty()) throw new IOException("\"" + end + "\" after a chunk");
      over = chunk.length == 0;
      return !over;
    }
  }
}
