package dev.kvasir.tierd;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.EOFException;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;

/** An engine for tests: a file of rows, and the protocol written down once more, from its page. */
public final class TierClient implements AutoCloseable {
  public static final int ROW_BYTES = 10_000;

  private final SocketChannel socket;
  private final FileChannel rows;
  private final Path file;
  private long id;

  private TierClient(SocketChannel socket, FileChannel rows, Path file) {
    this.socket = socket;
    this.rows = rows;
    this.file = file;
  }

  public static String namespace(String weights) {
    return "chunk-tokens=32\nmodel=pocket\nrow-bytes=" + ROW_BYTES + "\nweights=strong:" + weights;
  }

  /** Connects with a buffer of that many rows, and is welcomed. */
  public static TierClient connect(Path socket, Path file, int count, String namespace)
      throws IOException {
    var client = open(socket, file, count);
    client.send(hello(2, ROW_BYTES, count, file.toString(), namespace));
    var welcome = client.read();
    if (welcome.get() != (byte) 0x81) throw new IOException(text(welcome));
    return client;
  }

  static TierClient open(Path socket, Path file, int count) throws IOException {
    var rows =
        FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
    rows.write(ByteBuffer.allocate(1), (long) count * ROW_BYTES - 1);
    return new TierClient(connected(socket), rows, file);
  }

  static SocketChannel connected(Path socket) throws IOException {
    var channel = SocketChannel.open(StandardProtocolFamily.UNIX);
    channel.connect(UnixDomainSocketAddress.of(socket));
    return channel;
  }

  static ByteBuffer hello(int version, int rowBytes, int rows, String path, String namespace) {
    var body = ByteBuffer.allocate(32 << 10).order(LITTLE_ENDIAN);
    body.put((byte) 1).put("KVTP".getBytes(UTF_8)).putShort((short) version);
    body.putInt(rowBytes).putInt(rows);
    for (var text : new String[] {path, "test", namespace}) {
      var bytes = text.getBytes(UTF_8);
      body.putShort((short) bytes.length).put(bytes);
    }
    return body.flip();
  }

  static String text(ByteBuffer error) {
    int code = error.getShort();
    var bytes = new byte[error.getShort()];
    error.get(bytes);
    return "error " + code + ": " + new String(bytes, UTF_8);
  }

  /** Returns the expected content of the row of that chunk. */
  static byte[] content(long chunk) {
    var bytes = new byte[ROW_BYTES];
    new java.util.SplittableRandom(chunk).nextBytes(bytes);
    return bytes;
  }

  static byte[] key(long chunk) {
    return ByteBuffer.allocate(36)
        .order(LITTLE_ENDIAN)
        .put(dev.kvasir.kv.name.Sha256.of(("chunk " + chunk).getBytes(UTF_8)))
        .putInt((int) (chunk % 3))
        .array();
  }

  void put(int row, long chunk) throws IOException {
    rows.write(ByteBuffer.wrap(content(chunk)), (long) row * ROW_BYTES);
  }

  void wipe(int row) throws IOException {
    rows.write(ByteBuffer.allocate(ROW_BYTES), (long) row * ROW_BYTES);
  }

  public boolean holds(int row, long chunk) throws IOException {
    var bytes = ByteBuffer.allocate(ROW_BYTES);
    rows.read(bytes, (long) row * ROW_BYTES);
    return Arrays.equals(bytes.array(), content(chunk));
  }

  void shrink(long bytes) throws IOException {
    rows.truncate(bytes);
  }

  public byte[] look(long... chunks) throws IOException {
    var body = body(2).putLong(++id).putInt(chunks.length);
    for (long chunk : chunks) body.put(key(chunk));
    return request(body, (byte) 0x82);
  }

  /** Stores chunk i of them from row i, as one sequence. */
  public byte[] store(long... chunks) throws IOException {
    return request(storing(chunks), (byte) 0x83);
  }

  /** The same for a tenant. */
  byte[] storeFor(int tenant, long... chunks) throws IOException {
    return request(storing(tenant, chunks), (byte) 0x83);
  }

  /** Deletes what the tenant has; how many chunks, as JSON. */
  String forget(int tenant) throws IOException {
    return new String(request(body(9).putLong(++id).put(tenant(tenant)), (byte) 0x86), UTF_8);
  }

  /** A request with these chunks has ended. */
  void ended(long... chunks) throws IOException {
    var body = body(8).putInt(-1).putLong(0).put((byte) 0).putInt(chunks.length);
    for (long chunk : chunks) body.put(key(chunk));
    send(body.flip());
  }

  private static byte[] tenant(int tenant) {
    return ByteBuffer.allocate(16).order(LITTLE_ENDIAN).putInt(tenant).array();
  }

  ByteBuffer storing(long... chunks) throws IOException {
    return storing(0, chunks);
  }

  private ByteBuffer storing(int tenant, long... chunks) throws IOException {
    var body = body(3).putLong(++id).put(tenant(tenant)).put((byte) 0).putInt(chunks.length);
    for (int i = 0; i < chunks.length; i++) {
      put(i, chunks[i]);
      body.putInt(i).putInt(i).put(key(chunks[i]));
    }
    return body;
  }

  /** Loads chunk i of them into row i. */
  public byte[] load(long... chunks) throws IOException {
    return request(loading(chunks), (byte) 0x83);
  }

  ByteBuffer loading(long... chunks) {
    var body = body(4).putLong(++id).putInt(chunks.length);
    for (int i = 0; i < chunks.length; i++) body.putInt(i).put(key(chunks[i]));
    return body;
  }

  void measured(long tokens, long nanos) throws IOException {
    send(body(7).putLong(tokens).putLong(nanos).flip());
  }

  public String stats() throws IOException {
    return new String(request(body(6).putLong(++id), (byte) 0x86), UTF_8);
  }

  private static ByteBuffer body(int type) {
    return ByteBuffer.allocate(1 << 20).order(LITTLE_ENDIAN).put((byte) type);
  }

  private byte[] request(ByteBuffer body, byte expected) throws IOException {
    send(body.flip());
    var answer = read();
    byte type = answer.get();
    if (type != expected) throw new IOException(type == -1 ? text(answer) : "frame " + type);
    if (answer.getLong() != id) throw new IOException("an answer to another request");
    var each = new byte[answer.getInt()];
    answer.get(each);
    return each;
  }

  public void send(ByteBuffer body) throws IOException {
    var frame = ByteBuffer.allocate(4 + body.remaining()).order(LITTLE_ENDIAN);
    frame.putInt(body.remaining()).put(body).flip();
    raw(frame);
  }

  void raw(ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) socket.write(bytes);
  }

  public ByteBuffer read() throws IOException {
    return read(socket);
  }

  static ByteBuffer read(SocketChannel socket) throws IOException {
    return filled(socket, filled(socket, 4).getInt());
  }

  private static ByteBuffer filled(SocketChannel socket, int length) throws IOException {
    var buffer = ByteBuffer.allocate(length).order(LITTLE_ENDIAN);
    while (buffer.hasRemaining()) {
      if (socket.read(buffer) < 0) throw new EOFException("closed");
    }
    return buffer.flip();
  }

  @Override
  public void close() throws IOException {
    socket.close();
    rows.close();
    Files.deleteIfExists(file);
  }
}
