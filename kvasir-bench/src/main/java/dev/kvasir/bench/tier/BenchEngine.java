package dev.kvasir.bench.tier;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** An engine with rows in shared memory, as docs/tier-protocol.md has it. */
final class BenchEngine implements AutoCloseable {
  private static final int KEY_BYTES = 36;
  private static final int FRAME_MAX = 1 << 20;

  private final int rowBytes;
  private final int rows;
  private final Path file;
  private final FileChannel channel;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment memory;
  private final byte[] keys;
  private SocketChannel socket;
  private long id;

  /** Rows in a file, all pages of which are there, and not connected. */
  BenchEngine(Path file, int rowBytes, int rows) throws IOException {
    this.file = file;
    this.rowBytes = rowBytes;
    this.rows = rows;
    this.channel =
        FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
    this.memory = channel.map(MapMode.READ_WRITE, 0, (long) rows * rowBytes, arena);
    this.keys = new byte[rows * KEY_BYTES];
    for (int row = 0; row < rows; row++) {
      System.arraycopy(sha256("chunk " + row), 0, keys, row * KEY_BYTES, 32);
      row(row).fill((byte) row);
    }
    this.socket = SocketChannel.open(StandardProtocolFamily.UNIX);
  }

  private static byte[] sha256(String text) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  MemorySegment row(int row) {
    return memory.asSlice((long) row * rowBytes, rowBytes);
  }

  void connect(Path daemon) throws IOException {
    socket = SocketChannel.open(StandardProtocolFamily.UNIX);
    socket.connect(UnixDomainSocketAddress.of(daemon));
    var hello = body(1).put("KVTP".getBytes(UTF_8)).putShort((short) 2);
    hello.putInt(rowBytes).putInt(rows);
    var namespace = "chunk-tokens=16\nmodel=bench\nrow-bytes=" + rowBytes + "\nweights=weak:bench";
    for (var text : new String[] {file.toString(), "bench", namespace}) {
      var bytes = text.getBytes(UTF_8);
      hello.putShort((short) bytes.length).put(bytes);
    }
    send(hello);
    if (read().get() != (byte) 0x81) throw new IOException("not welcome");
  }

  /** Disconnects; the rows stay. */
  void leave() throws IOException {
    socket.shutdownOutput();
    while (socket.read(ByteBuffer.allocate(64)) >= 0) {}
    socket.close();
  }

  /** Returns how many of the chunks are present. */
  int look() throws IOException {
    var body = body(2).putLong(++id).putInt(rows).put(keys);
    send(body);
    return count(read(), (byte) 1);
  }

  /** Stores all rows; how many are stored. */
  int store() throws IOException {
    var body = body(3).putLong(++id).put(new byte[16]).put((byte) 0).putInt(rows);
    for (int row = 0; row < rows; row++) {
      body.putInt(row).putInt(row).put(keys, row * KEY_BYTES, KEY_BYTES);
    }
    send(body);
    return count(read(), (byte) 0);
  }

  /** Loads all rows; how many are loaded. */
  int load() throws IOException {
    var body = body(4).putLong(++id).putInt(rows);
    for (int row = 0; row < rows; row++) body.putInt(row).put(keys, row * KEY_BYTES, KEY_BYTES);
    send(body);
    return count(read(), (byte) 0);
  }

  private static int count(ByteBuffer answer, byte wanted) {
    answer.position(answer.position() + 1 + Long.BYTES);
    int count = 0;
    for (int n = answer.getInt(); n > 0; n--) if (answer.get() == wanted) count++;
    return count;
  }

  private static ByteBuffer body(int type) {
    return ByteBuffer.allocate(FRAME_MAX).order(LITTLE_ENDIAN).put((byte) type);
  }

  private void send(ByteBuffer body) throws IOException {
    body.flip();
    var head = ByteBuffer.allocate(Integer.BYTES).order(LITTLE_ENDIAN).putInt(body.remaining());
    socket.write(head.flip());
    while (body.hasRemaining()) socket.write(body);
  }

  private ByteBuffer read() throws IOException {
    int length = exactly(Integer.BYTES).getInt();
    return exactly(length);
  }

  private ByteBuffer exactly(int length) throws IOException {
    var bytes = ByteBuffer.allocate(length).order(LITTLE_ENDIAN);
    while (bytes.hasRemaining()) {
      if (socket.read(bytes) < 0) throw new EOFException("the daemon is gone");
    }
    return bytes.flip();
  }

  @Override
  public void close() throws IOException {
    socket.close();
    arena.close();
    channel.close();
    java.nio.file.Files.deleteIfExists(file);
  }
}
