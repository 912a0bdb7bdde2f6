package dev.kvasir.live.store.remote;

import dev.kvasir.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisSocketFactory;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.PushConsumerChain;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.util.RedisInputStream;

/** A connection that reads one block after the other into the same array: new ones cost more. */
final class BlockConnection extends Connection {
  private static final byte BULK = '$';

  private final byte[] block;
  private boolean lending;

  private BlockConnection(Maker maker) {
    super(maker);
    this.block = new byte[maker.sealedBytes];
  }

  /** What a pool makes them with. */
  static final class Maker extends Builder {
    private final int sealedBytes;

    Maker(HostAndPort node, JedisClientConfig config, int sealedBytes) {
      this.sealedBytes = sealedBytes;
      socketFactory(new DefaultJedisSocketFactory(node, config)).clientConfig(config);
    }

    @Override
    protected Connection createConnection() {
      return new BlockConnection(this);
    }
  }

  /** The next reply, null for no block; its bytes are good until the next one is read. */
  byte @Nullable [] lend() {
    lending = true;
    try {
      return (byte[]) getOne();
    } finally {
      lending = false;
    }
  }

  @Override
  protected @Nullable Object protocolRead(RedisInputStream stream, PushConsumerChain pushes) {
    if (!lending || !stream.peek(BULK)) return super.protocolRead(stream, pushes);
    var _ = stream.readByte();
    int length = stream.readIntCrLf();
    if (length < 0) return null;
    var bytes = length == block.length ? block : new byte[length];
    for (int read = 0; read < length; ) {
      int more = stream.read(bytes, read, length - read);
      if (more < 0) throw new JedisConnectionException(read + " bytes of " + length + " came");
      read += more;
    }
    var _ = stream.readByte();
    var _ = stream.readByte();
    return bytes;
  }
}
