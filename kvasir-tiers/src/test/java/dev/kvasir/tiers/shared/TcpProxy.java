package dev.kvasir.tiers.shared;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;

/** Stands between a client and a server, and does to the connections what networks do. */
public final class TcpProxy implements AutoCloseable {
  /** Faults that can happen to connections. */
  public enum Fault {
    NONE,
    /** They are closed as soon as they are made. */
    REFUSE,
    /** The server's answers never arrive. */
    STALL,
    /** Nobody reads or writes any more at the other end, and nobody says so. */
    HALF_OPEN,
    /** Some bits of the server's answers are others. */
    FLIP,
    /** The answer ends in the middle. */
    CUT
  }

  private static final int BUFFER_BYTES = 16 << 10;
  private static final Pattern HTTP_TIME =
      Pattern.compile("(?i)(?<=\r\n(Date|Last-Modified): )\\w{3}, \\d{2} [^\r]{17} GMT");
  private static final DateTimeFormatter HTTP_FORMAT =
      DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ENGLISH);

  private final ServerSocket listener;
  private final int target;
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();
  private final AtomicLong bytesUp = new AtomicLong();
  private volatile Fault fault = Fault.NONE;
  private volatile Duration delay = Duration.ZERO;
  private volatile Duration ahead = Duration.ZERO;
  private volatile boolean closed;

  public TcpProxy(int target) throws IOException {
    this.target = target;
    this.listener = new ServerSocket(0, 64, InetAddress.getLoopbackAddress());
    Thread.startVirtualThread(this::accept);
  }

  public int port() {
    return listener.getLocalPort();
  }

  /** Returns how many bytes clients have sent to the server. */
  public long bytesUp() {
    return bytesUp.get();
  }

  /** From now on each 16 KiB of an answer take that long. */
  public void delay(Duration next) {
    delay = next;
  }

  /** From now on the clock of an HTTP server is that far ahead of ours. */
  public void clockAhead(Duration next) {
    ahead = next;
  }

  public void fault(Fault next) {
    fault = next;
    if (next == Fault.REFUSE) dropAll();
  }

  private void dropAll() {
    for (var socket : sockets) quietly(socket);
    sockets.clear();
  }

  private void accept() {
    while (!closed) {
      try {
        var client = listener.accept();
        if (fault == Fault.REFUSE) {
          quietly(client);
          continue;
        }
        var server = new Socket();
        sockets.add(client);
        sockets.add(server);
        server.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), target));
        server.setTcpNoDelay(true);
        client.setTcpNoDelay(true);
        Thread.startVirtualThread(() -> up(client, server));
        Thread.startVirtualThread(() -> down(server, client));
      } catch (IOException e) {
        // The server is down, or this is: whoever waits sees a connection that ends.
        dropAll();
      }
    }
  }

  private void up(Socket client, Socket server) {
    var buffer = new byte[BUFFER_BYTES];
    try (client;
        server) {
      InputStream in = client.getInputStream();
      OutputStream out = server.getOutputStream();
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        hold(Fault.HALF_OPEN);
        out.write(buffer, 0, read);
        bytesUp.addAndGet(read);
      }
    } catch (IOException | InterruptedException e) {
      // The other direction ends with the sockets.
    }
  }

  private void down(Socket server, Socket client) {
    var buffer = new byte[BUFFER_BYTES];
    try (client;
        server) {
      InputStream in = server.getInputStream();
      OutputStream out = client.getOutputStream();
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        hold(Fault.HALF_OPEN);
        hold(Fault.STALL);
        if (delay.isPositive()) Thread.sleep(delay);
        // Short answers are the protocol's own; what is flipped or cut is a block.
        if (fault == Fault.FLIP && read > BUFFER_BYTES / 2) buffer[read / 2] ^= 0x10;
        if (fault == Fault.CUT && read > BUFFER_BYTES / 2) return;
        if (!ahead.isZero()) shiftTimes(buffer, read);
        out.write(buffer, 0, read);
      }
    } catch (IOException | InterruptedException e) {
      // The other direction ends with the sockets.
    }
  }

  private void shiftTimes(byte[] buffer, int length) {
    for (var found :
        HTTP_TIME.matcher(new String(buffer, 0, length, ISO_8859_1)).results().toList()) {
      var parsed = LocalDateTime.parse(found.group(), HTTP_FORMAT);
      byte[] shifted = HTTP_FORMAT.format(parsed.plus(ahead)).getBytes(ISO_8859_1);
      System.arraycopy(shifted, 0, buffer, found.start(), shifted.length);
    }
  }

  private void hold(Fault kind) throws InterruptedException {
    while (fault == kind && !closed) Thread.sleep(10);
  }

  private static void quietly(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public void close() throws IOException {
    closed = true;
    listener.close();
    dropAll();
  }
}
