package dev.kvasir.tiers.redis;

import dev.kvasir.Nullable;
import dev.kvasir.tiers.shared.SealedBlock;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * A connection that Jedis makes and keeps, and that speaks of blocks by itself.
 *
 * <p>Jedis has nothing in its buffers between two commands, so both may use the socket in turns.
 * Whoever leaves off in the middle must say that the connection is broken.
 */
final class BlockConnection extends Connection {
  private static final int LINE_BYTES_MAX = 1024;
  private static final char BULK = '$';
  private static final char ERROR = '-';
  private static final char NUMBER = ':';
  private static final ByteBuffer NO_BLOCK = ByteBuffer.allocate(0);

  private final BlockSocket socket;
  private final ByteBuffer line = ByteBuffer.allocateDirect(LINE_BYTES_MAX).limit(0);
  private final ByteBuffer block;

  private BlockConnection(BlockSocket socket, JedisClientConfig config, int sealedBytes) {
    super(builder().socketFactory(socket).clientConfig(config));
    this.socket = socket;
    this.block = ByteBuffer.allocateDirect(sealedBytes);
  }

  /** Builder with which a pool makes such connections. */
  static final class Maker extends Builder {
    private final HostAndPort node;
    private final JedisClientConfig config;
    private final int sealedBytes;

    Maker(HostAndPort node, JedisClientConfig config, int sealedBytes) {
      this.node = node;
      this.config = config;
      this.sealedBytes = sealedBytes;
      socketFactory(new BlockSocket(node, config)).clientConfig(config);
    }

    @Override
    protected Connection createConnection() {
      return new BlockConnection(new BlockSocket(node, config), config, sealedBytes);
    }
  }

  /** Asks for the blocks under these keys. */
  void get(List<byte[]> keys) throws IOException {
    var request = new RedisRequest();
    for (var key : keys) request.command(2).word("GET").word(key);
    socket.write(request.bytes());
  }

  /** Gives the keys another time to live; each has a reply, to be skipped behind the blocks. */
  void expire(List<byte[]> keys, Duration ttl) throws IOException {
    if (keys.isEmpty()) return;
    var request = new RedisRequest();
    var ttlMillis = "" + ttl.toMillis();
    for (var key : keys) request.command(3).word("PEXPIRE").word(key).word(ttlMillis);
    socket.write(request.bytes());
  }

  /** Reads the next reply, which is a number or an error, and leaves it. */
  void skip() throws IOException {
    var reply = line();
    boolean isShort = !reply.isEmpty() && (reply.charAt(0) == NUMBER || reply.charAt(0) == ERROR);
    if (!isShort) throw new IOException("'" + reply + "' came, expected a number");
  }

  /**
   * The next block that was asked for, null if it is not there; lent until the next one. Of one
   * that has another length than ours have, no byte is left.
   */
  @Nullable
  ByteBuffer block() throws IOException {
    var head = head();
    if (head == null) return null;
    if (head.charAt(0) != BULK) throw new IOException("'" + head + "' came, expected a block");
    int length = Integer.parseInt(head.substring(1));
    // What is longer than a block is read past in pieces: the server does not say how much we keep.
    for (int left = length; left > 0; left -= block.capacity()) {
      fill(block.clear().limit(Math.min(left, block.capacity())));
    }
    var end = line();
    if (!end.isEmpty()) throw new IOException("'" + end + "' came, expected the end of a block");
    return length == block.capacity() ? block.flip() : NO_BLOCK;
  }

  private void fill(ByteBuffer into) throws IOException {
    int buffered = Math.min(into.remaining(), line.remaining());
    into.put(line.slice(line.position(), buffered));
    line.position(line.position() + buffered);
    while (into.hasRemaining()) socket.read(into);
  }

  /** Sends a block; the words say how it is to be set. */
  void set(byte[] key, SealedBlock sealed, List<String> how) throws IOException {
    var head = new RedisRequest().command(3 + how.size()).word("SET").word(key);
    var tail = new RedisRequest().end();
    for (var word : how) tail.word(word);
    var all = new ArrayList<ByteBuffer>();
    all.add(head.length(sealed.length()).bytes());
    all.addAll(sealed.read());
    all.add(tail.bytes());
    socket.write(all.toArray(ByteBuffer[]::new));
  }

  /** Returns whether the next block that was sent has been set: it has not if one was there. */
  boolean isSet() throws IOException {
    var head = head();
    if (head != null && !head.equals("+OK")) throw new IOException("'" + head + "' came for a set");
    return head != null;
  }

  /**
   * Reads the beginning of the next reply, null if the reply is null; throws an error of the
   * server.
   */
  private @Nullable String head() throws IOException {
    var head = line();
    if (head.isEmpty()) throw new IOException("an empty line came, expected a reply");
    if (head.charAt(0) == ERROR) throw new JedisDataException(head.substring(1));
    return head.equals("$-1") || head.equals("_") ? null : head;
  }

  private String line() throws IOException {
    var text = new StringBuilder();
    while (text.length() < LINE_BYTES_MAX) {
      if (!line.hasRemaining()) {
        socket.read(line.clear());
        line.flip();
      }
      char next = (char) (line.get() & 0xff);
      if (next == '\n') return text.toString().stripTrailing();
      text.append(next);
    }
    throw new IOException("a line of more than " + LINE_BYTES_MAX + " bytes came");
  }
}
