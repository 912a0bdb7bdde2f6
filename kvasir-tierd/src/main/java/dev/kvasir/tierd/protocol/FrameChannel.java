package dev.kvasir.tierd.protocol;

import static dev.kvasir.tierd.protocol.ProtocolError.Kind.BAD_FRAME;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * Frames over a socket: a reader that looks at the length before it takes memory, and a thread that
 * writes, so that nobody who answers waits for a client that does not read.
 *
 * <p>What waits to be written is bounded by who asks: there is an answer for each request, and a
 * client has so many without an answer at most.
 */
public final class FrameChannel implements AutoCloseable {
  private static final ByteBuffer END = ByteBuffer.allocate(0);

  private final SocketChannel socket;
  private final LinkedBlockingQueue<ByteBuffer> frames = new LinkedBlockingQueue<>();
  private final Thread writer;
  private final ByteBuffer head =
      ByteBuffer.allocate(TierProtocol.HEAD_BYTES).order(ByteOrder.LITTLE_ENDIAN);
  private ByteBuffer body = ByteBuffer.allocate(4_096).order(ByteOrder.LITTLE_ENDIAN);

  /** Takes the socket over; {@code written} runs after each frame that is out. */
  public FrameChannel(SocketChannel socket, Runnable written) {
    this.socket = socket;
    this.writer = Thread.ofVirtual().name("kvasir-tier-writer").start(() -> write(written));
  }

  /** The next frame, valid until the next call; an {@link EOFException} where there is none. */
  public ByteBuffer read(int bytesMax) throws IOException {
    fill(head.clear());
    int length = head.flip().getInt();
    if (length < 1 || length > bytesMax) {
      throw new ProtocolError(
          BAD_FRAME,
          "a frame of %s bytes, expected 1 to %s"
              .formatted(Integer.toUnsignedString(length), bytesMax));
    }
    if (body.capacity() < length) {
      int room = Math.max(length, Math.min(bytesMax, 2 * body.capacity()));
      body = ByteBuffer.allocate(room).order(ByteOrder.LITTLE_ENDIAN);
    }
    fill(body.clear().limit(length));
    return body.flip();
  }

  private void fill(ByteBuffer buffer) throws IOException {
    while (buffer.hasRemaining()) {
      if (socket.read(buffer) < 0) throw new EOFException("the client has closed the connection");
    }
  }

  /** Sends the frame when those before it are out; from any thread. */
  public void send(ByteBuffer frame) {
    frames.add(frame);
  }

  @SuppressWarnings("ReferenceEquality") // The end is that one buffer, and no empty frame.
  private void write(Runnable written) {
    try {
      for (var frame = frames.take(); frame != END; frame = frames.take()) {
        while (frame.hasRemaining()) {
          var _ = socket.write(frame);
        }
        written.run();
      }
    } catch (IOException e) {
      shut(); // The reader hears of it.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Wakes the reader. */
  public void shut() {
    try {
      socket.close();
    } catch (IOException e) {
      System.getLogger(FrameChannel.class.getName())
          .log(System.Logger.Level.DEBUG, "closing a connection: {0}", e.getMessage());
    }
  }

  /** Sends what is left to a client that reads, then closes the connection. */
  @Override
  public void close() {
    frames.add(END);
    try {
      if (!writer.join(TierProtocol.HELLO_MAX)) writer.interrupt();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    shut();
  }
}
