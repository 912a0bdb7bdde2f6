package dev.kvasir.events.zmtp;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;

/** The other end of a connection, byte by byte. Used by one thread. */
final class RawPeer implements AutoCloseable {
  private static final int GREETING_BYTES = 64;
  private static final int WAIT_MILLIS = 30_000;

  /** A frame as it came. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Frame(int flags, byte[] body) {
    String text() {
      return new String(body, US_ASCII);
    }
  }

  private final Socket socket;
  private final DataInputStream in;

  RawPeer(Socket socket) throws IOException {
    this.socket = socket;
    this.in = new DataInputStream(socket.getInputStream());
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(WAIT_MILLIS);
  }

  static byte[] greeting(int minor, String mechanism) {
    var greeting = ByteBuffer.allocate(GREETING_BYTES);
    greeting.put((byte) 0xff).position(9).put((byte) 0x7f).put((byte) 3).put((byte) minor);
    return greeting.put(mechanism.getBytes(US_ASCII)).array();
  }

  static byte[] frame(int flags, byte[] body) {
    var out = new ByteArrayOutputStream();
    out.write(flags);
    out.write(body.length);
    out.writeBytes(body);
    return out.toByteArray();
  }

  static byte[] frame(int flags, String body) {
    return frame(flags, body.getBytes(US_ASCII));
  }

  static byte[] ready(String type) {
    return frame(FrameReader.COMMAND, "\5READY\13Socket-Type\0\0\0" + (char) type.length() + type);
  }

  RawPeer send(byte[] bytes) throws IOException {
    socket.getOutputStream().write(bytes);
    return this;
  }

  /** One byte at a time, each in a packet of its own. */
  RawPeer dribble(byte[] bytes, long millisBetween) throws IOException, InterruptedException {
    for (byte each : bytes) {
      send(new byte[] {each});
      Thread.sleep(millisBetween);
    }
    return this;
  }

  byte[] receiveGreeting() throws IOException {
    return in.readNBytes(GREETING_BYTES);
  }

  Frame receive() throws IOException {
    int flags = in.readUnsignedByte();
    long length = (flags & FrameReader.LONG) == 0 ? in.readUnsignedByte() : in.readLong();
    return new Frame(flags, in.readNBytes((int) length));
  }

  /** As a publisher of a version does. */
  RawPeer shakeHands(int minor, String type) throws IOException {
    send(greeting(minor, "NULL"));
    receiveGreeting();
    send(ready(type));
    receive();
    return this;
  }

  /** Waits until the other end hangs up; what comes before is dropped. */
  void awaitEnd() throws IOException {
    long end = System.nanoTime() + 1_000_000L * WAIT_MILLIS;
    try {
      while (in.read() >= 0) {
        if (System.nanoTime() > end) throw new AssertionError("nobody hangs up");
      }
    } catch (SocketException e) {
      // An end, too.
    }
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
