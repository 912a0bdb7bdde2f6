package dev.kvasir.events.zmtp;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.ProtocolException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;

/**
 * A connection to a peer that speaks ZMTP 3.
 *
 * <pre>
 *   greeting --> READY --> messages, PING, PONG --> closed
 *       '---------'------------'------------------->   2 s, ERROR, silence, too much
 * </pre>
 *
 * <p>One thread reads; any thread may send. It says of itself that it speaks 3.0, so subscriptions
 * are messages, which every libzmq since 4.0 understands. PING is of 3.1, and is sent to peers that
 * say that they know it.
 */
public final class ZmtpConnection {
  private static final int GREETING_BYTES = 64;
  private static final int SIGNATURE_END = 9;
  private static final int MECHANISM_AT = 12;
  private static final int MECHANISM_BYTES = 20;
  private static final int MAJOR = 3;
  private static final int SIGNED = 0xff;
  private static final int SIGNED_END = 0x7f;
  private static final int SHORT_MAX = 255;

  /** Of a PING: for how long it holds, which we leave to TCP. */
  private static final int TTL_BYTES = 2;

  private static final int PING_WORD_BYTES_MAX = 16;

  /** Time for which messages that come in quick succession are gathered, to be read at once. */
  private static final long GATHER_NANOS = 1_000_000;

  /** Gap below which bytes come in quick succession: twice that, as a wait may overrun. */
  private static final long QUICK_NANOS = 2 * GATHER_NANOS;

  private final Socket socket;
  private final InputStream in;
  private final Outbox outbox;
  private final FrameReader reader;
  private final ZmtpRole role;
  private final ZmtpTimes times;
  private final long handshakeEnd;
  private boolean ready;
  private boolean pings;
  private long readNanos;

  /** Flag that is set if the last bytes came soon after those before, and were all there was. */
  private boolean isQuick;

  private ZmtpConnection(Socket socket, ZmtpRole role, ZmtpTimes times, int frameBytesMax)
      throws IOException {
    this.socket = socket;
    this.in = socket.getInputStream();
    this.outbox = new Outbox(socket);
    this.reader = new FrameReader(this::read, frameBytesMax);
    this.role = role;
    this.times = times;
    this.handshakeEnd = System.nanoTime() + times.handshake().toNanos();
  }

  /** Shakes hands with the peer at the other end of the socket, which stays the caller's. */
  static ZmtpConnection over(Socket socket, ZmtpRole role, ZmtpTimes times, int frameBytesMax)
      throws IOException {
    socket.setTcpNoDelay(true);
    socket.setKeepAlive(true);
    var connection = new ZmtpConnection(socket, role, times, frameBytesMax);
    connection.shakeHands();
    return connection;
  }

  /** Sends a message of these parts, if the peer takes it; does not wait. */
  public void send(byte[]... parts) {
    var out = new ByteArrayOutputStream();
    for (int i = 0; i < parts.length; i++) {
      boolean last = i == parts.length - 1;
      append(out, last ? 0 : FrameReader.MORE, parts[i]);
    }
    outbox.send(out.toByteArray());
  }

  /** Waits for the next message of the peer, and answers its questions meanwhile. */
  List<byte[]> next() throws IOException {
    var parts = new ArrayList<byte[]>(4);
    for (; ; ) {
      var frame = reader.next();
      if (frame.isCommand()) {
        obey(frame.body());
        continue;
      }
      parts.add(frame.body());
      if (!frame.hasMore()) return parts;
    }
  }

  private void shakeHands() throws IOException {
    var ours = ByteBuffer.allocate(GREETING_BYTES);
    ours.put((byte) SIGNED).position(SIGNATURE_END).put((byte) SIGNED_END).put((byte) MAJOR);
    ours.position(MECHANISM_AT).put("NULL".getBytes(US_ASCII));
    outbox.send(ours.array());
    readGreeting(reader.exactly(GREETING_BYTES));
    sendCommand("READY", properties());
    var frame = reader.next();
    if (!frame.isCommand()) throw new ProtocolException("a message before READY");
    readReady(frame.body());
    ready = true;
  }

  private void readGreeting(byte[] theirs) throws IOException {
    if (Byte.toUnsignedInt(theirs[0]) != SIGNED || theirs[SIGNATURE_END] != SIGNED_END) {
      throw new ProtocolException("a greeting that is not ZeroMQ's");
    }
    int major = theirs[SIGNATURE_END + 1];
    if (major < MAJOR) {
      throw new ProtocolException("version %d of ZMTP, expected 3".formatted(major));
    }
    pings = major > MAJOR || theirs[SIGNATURE_END + 2] > 0;
    var mechanism = new String(theirs, MECHANISM_AT, MECHANISM_BYTES, US_ASCII);
    if (!mechanism.equals("NULL" + "\0".repeat(MECHANISM_BYTES - 4))) {
      throw new ProtocolException(
          "a demand for the security %s, expected NULL".formatted(printable(mechanism)));
    }
  }

  private byte[] properties() {
    var out = new ByteArrayOutputStream();
    appendProperty(out, "Socket-Type", role.name());
    if (role == ZmtpRole.DEALER) appendProperty(out, "Identity", "");
    return out.toByteArray();
  }

  private static void appendProperty(ByteArrayOutputStream out, String name, String value) {
    out.write(name.length());
    out.writeBytes(name.getBytes(US_ASCII));
    out.writeBytes(ByteBuffer.allocate(Integer.BYTES).putInt(value.length()).array());
    out.writeBytes(value.getBytes(US_ASCII));
  }

  private void readReady(byte[] command) throws IOException {
    var body = ByteBuffer.wrap(command);
    var type = "";
    try {
      var name = word(body, Byte.toUnsignedInt(body.get()));
      if (name.equals("ERROR")) throw refused(body);
      if (!name.equals("READY")) throw new ProtocolException(printable(name) + " before READY");
      while (body.hasRemaining()) {
        var property = word(body, Byte.toUnsignedInt(body.get())).toLowerCase(Locale.ROOT);
        var value = word(body, body.getInt());
        if (property.equals("socket-type")) type = value;
      }
    } catch (BufferUnderflowException e) {
      throw new ProtocolException("a READY that ends too soon");
    }
    if (!role.accepts(type)) {
      throw new ProtocolException(
          "that it is a socket of type %s, expected %s".formatted(printable(type), role.peers()));
    }
  }

  private void obey(byte[] command) throws IOException {
    var body = ByteBuffer.wrap(command);
    try {
      switch (word(body, Byte.toUnsignedInt(body.get()))) {
        case "PING" -> {
          body.position(body.position() + Math.min(TTL_BYTES, body.remaining()));
          if (body.remaining() > PING_WORD_BYTES_MAX) throw new ProtocolException("a long PING");
          sendCommand("PONG", Arrays.copyOfRange(command, body.position(), command.length));
        }
        case "ERROR" -> throw refused(body);
        default -> {
          // PONG has been heard by coming; others are of no use to a subscriber.
        }
      }
    } catch (BufferUnderflowException e) {
      throw new ProtocolException("a command that ends too soon");
    }
  }

  private static ProtocolException refused(ByteBuffer body) {
    int length = body.hasRemaining() ? Byte.toUnsignedInt(body.get()) : 0;
    var reason = word(body, Math.min(length, body.remaining()));
    return new ProtocolException("the error '" + printable(reason) + "'");
  }

  private static String word(ByteBuffer from, int length) {
    if (length < 0 || length > from.remaining()) throw new BufferUnderflowException();
    var bytes = new byte[length];
    from.get(bytes);
    return new String(bytes, US_ASCII);
  }

  private static String printable(String text) {
    return text.replaceAll("[^\\x20-\\x7e]", "");
  }

  private void sendCommand(String name, byte[] body) {
    var command = new ByteArrayOutputStream();
    command.write(name.length());
    command.writeBytes(name.getBytes(US_ASCII));
    command.writeBytes(body);
    var out = new ByteArrayOutputStream();
    append(out, FrameReader.COMMAND, command.toByteArray());
    outbox.send(out.toByteArray());
  }

  private static void append(ByteArrayOutputStream out, int flags, byte[] body) {
    if (body.length <= SHORT_MAX) {
      out.write(flags);
      out.write(body.length);
    } else {
      out.write(flags | FrameReader.LONG);
      out.writeBytes(ByteBuffer.allocate(Long.BYTES).putLong(body.length).array());
    }
    out.writeBytes(body);
  }

  /** Some bytes of the peer; a silence is asked about, and ends the connection if it lasts. */
  private int read(byte[] into, int at, int length) throws IOException {
    if (isQuick) LockSupport.parkNanos(GATHER_NANOS);
    for (int silences = 1; ; silences++) {
      socket.setSoTimeout(waitMillis());
      try {
        int count = in.read(into, at, length);
        if (count < 0) throw new EOFException("the peer hung up");
        came(length - count);
        return count;
      } catch (SocketTimeoutException e) {
        pingAfter(silences);
      }
    }
  }

  /** To be woken for each message costs more than most messages. With room left, these are all. */
  private void came(int room) {
    long now = System.nanoTime();
    isQuick = ready && room > 0 && now - readNanos < QUICK_NANOS;
    readNanos = now;
  }

  /** However many bytes come, the handshake has to end in time. */
  private int waitMillis() throws SocketTimeoutException {
    if (ready) return (int) Math.max(1, times.ping().toMillis());
    long left = handshakeEnd - System.nanoTime();
    if (left > 0) return (int) (left / 1_000_000) + 1;
    throw new SocketTimeoutException(
        "the handshake took more than " + times.handshake().toMillis() + " ms");
  }

  private void pingAfter(int silences) throws SocketTimeoutException {
    if (!ready || !pings) return;
    var silence = times.ping().multipliedBy(silences);
    if (silence.minus(times.ping()).compareTo(times.answer()) >= 0) {
      throw new SocketTimeoutException("nothing came for " + silence.toMillis() + " ms");
    }
    sendCommand("PING", new byte[TTL_BYTES]);
  }
}
