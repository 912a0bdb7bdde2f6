package dev.kvasir.events;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;

/** An engine that sends one message without end, as raw ZMTP 3.0 over TCP. */
final class EndlessPublisher implements AutoCloseable {
  private static final int GREETING_BYTES = 64;
  private static final int HANDSHAKE_MILLIS = 2_000;
  private static final byte MORE = 1;
  private static final byte COMMAND = 4;

  private final ServerSocket server;
  private final int frameBytes;
  private final CompletableFuture<Long> broken = new CompletableFuture<>();

  /**
   * Waits for a subscriber.
   *
   * @param frameBytes of each part, at most 255
   * @param bytesMax when to stop
   */
  EndlessPublisher(int frameBytes, long bytesMax) throws IOException {
    this.frameBytes = frameBytes;
    this.server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    Thread.ofPlatform().daemon().name("endless").start(() -> serve(bytesMax));
  }

  String endpoint() {
    return "tcp://127.0.0.1:" + server.getLocalPort();
  }

  /** The bytes that were sent until the subscriber broke the connection; fails if it did not. */
  CompletableFuture<Long> broken() {
    return broken;
  }

  private void serve(long bytesMax) {
    try (var socket = server.accept()) {
      socket.setSoTimeout(HANDSHAKE_MILLIS);
      shakeHands(socket);
      broken.complete(flood(socket.getOutputStream(), bytesMax));
    } catch (IOException | IllegalStateException e) {
      broken.completeExceptionally(e);
    }
  }

  /** Greets a subscriber as a publisher does. */
  static void shakeHands(Socket socket) throws IOException {
    InputStream in = socket.getInputStream();
    OutputStream out = socket.getOutputStream();
    var greeting = ByteBuffer.allocate(GREETING_BYTES);
    greeting.put((byte) 0xff).position(9).put((byte) 0x7f).put((byte) 3).put((byte) 0);
    greeting.put("NULL".getBytes(StandardCharsets.US_ASCII));
    out.write(greeting.array());
    in.readNBytes(GREETING_BYTES);
    var ready = ByteBuffer.allocate(28);
    ready.put(COMMAND).put((byte) 25);
    ready.put((byte) 5).put("READY".getBytes(StandardCharsets.US_ASCII));
    ready.put((byte) 11).put("Socket-Type".getBytes(StandardCharsets.US_ASCII));
    ready.putInt(3).put("PUB".getBytes(StandardCharsets.US_ASCII));
    out.write(Arrays.copyOf(ready.array(), ready.position()));
  }

  private long flood(OutputStream out, long bytesMax) {
    var frame = new byte[2 + frameBytes];
    frame[0] = MORE;
    frame[1] = (byte) frameBytes;
    long sent = 0;
    try {
      for (; sent < bytesMax; sent += frame.length) out.write(frame);
    } catch (IOException e) {
      return sent;
    }
    throw new IllegalStateException("after " + sent + " bytes nobody has hung up");
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
