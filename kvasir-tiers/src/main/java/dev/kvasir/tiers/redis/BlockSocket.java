package dev.kvasir.tiers.redis;

import dev.kvasir.Nullable;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.WritableByteChannel;
import redis.clients.jedis.DefaultJedisSocketFactory;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.JedisSocketFactory;
import redis.clients.jedis.exceptions.JedisConnectionException;

/**
 * The socket of one connection, made for Jedis, and its bytes past Jedis.
 *
 * <p>Streams of Java copy what they carry from one array to the next; a channel reads and writes
 * memory outside the heap as it lies there. With TLS there are streams all the same.
 */
final class BlockSocket implements JedisSocketFactory {
  private final HostAndPort node;
  private final JedisClientConfig config;
  private @Nullable ReadableByteChannel in;
  private @Nullable WritableByteChannel out;

  BlockSocket(HostAndPort node, JedisClientConfig config) {
    this.node = node;
    this.config = config;
  }

  @Override
  public Socket createSocket() {
    try {
      if (config.getSslOptions() != null) {
        var socket = new DefaultJedisSocketFactory(node, config).createSocket();
        in = Channels.newChannel(socket.getInputStream());
        out = Channels.newChannel(socket.getOutputStream());
        return socket;
      }
      var channel = connect();
      in = channel;
      out = channel;
      return channel.socket();
    } catch (IOException e) {
      throw new JedisConnectionException("no connection to " + node + ": " + e.getMessage(), e);
    }
  }

  /** Tries all addresses of the host. */
  private SocketChannel connect() throws IOException {
    @Nullable IOException failure = null;
    for (var address : InetAddress.getAllByName(node.getHost())) {
      var channel = SocketChannel.open();
      try {
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        channel
            .socket()
            .connect(
                new InetSocketAddress(address, node.getPort()),
                config.getConnectionTimeoutMillis());
        channel.socket().setSoTimeout(config.getSocketTimeoutMillis());
        return channel;
      } catch (IOException e) {
        channel.close();
        failure = e;
      }
    }
    throw failure == null ? new IOException(node.getHost() + " has no address") : failure;
  }

  /** Reads some bytes, one at least. */
  void read(ByteBuffer into) throws IOException {
    if (in == null) throw new IllegalStateException("not connected to " + node);
    if (in.read(into) < 0) throw new EOFException("the server hung up");
  }

  /** Writes all of the buffers, in one go where it can: a small piece alone is a packet. */
  void write(ByteBuffer... buffers) throws IOException {
    if (out == null) throw new IllegalStateException("not connected to " + node);
    for (int i = 0; i < buffers.length; ) {
      if (!buffers[i].hasRemaining()) i++;
      else if (out instanceof GatheringByteChannel all) all.write(buffers, i, buffers.length - i);
      else out.write(buffers[i]);
    }
  }
}
