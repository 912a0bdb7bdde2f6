package dev.kvasir.net.redis;

import static java.lang.System.Logger.Level.INFO;
import static java.lang.System.Logger.Level.WARNING;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.kvasir.Nullable;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import redis.clients.jedis.BinaryJedisPubSub;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisException;

/**
 * A channel of Redis or Valkey: what one sends, all hear who are connected, the sender included.
 *
 * <p>One thread sends and one listens, each over a connection of its own that is opened again when
 * it breaks. What cannot be sent now is dropped and counted, and so is what comes while nobody is
 * connected, which nobody counts.
 */
public final class RedisChannel implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(RedisChannel.class.getName());
  private static final int QUEUE_MAX = 1_024;
  private static final Duration PAUSE = Duration.ofMillis(500);

  /** Receiver of the messages of a channel, called on the listening thread. */
  public interface Receiver {
    void received(byte[] message);

    /** The connection to the server broke: what others send is not heard until it is back. */
    void disconnected();
  }

  private final RedisNode node;
  private final byte[] name;
  private final Receiver receiver;
  private final BlockingQueue<Supplier<byte[]>> queue = new ArrayBlockingQueue<>(QUEUE_MAX);
  private final LongAdder dropped = new LongAdder();
  private final Thread sender;
  private final Thread listener;
  private volatile boolean closed;
  private volatile @Nullable Jedis listening;
  private volatile String failure = "";

  private RedisChannel(RedisNode node, String name, Receiver receiver) {
    this.node = node;
    this.name = name.getBytes(UTF_8);
    this.receiver = receiver;
    sender = Thread.ofPlatform().name("kvasir-replicas-send").daemon(true).unstarted(this::send);
    listener =
        Thread.ofPlatform().name("kvasir-replicas-listen").daemon(true).unstarted(this::listen);
  }

  /** Connects, now or when the server can be reached; messages are heard on a thread of its own. */
  public static RedisChannel open(RedisNode node, String name, Receiver receiver) {
    var channel = new RedisChannel(node, name, receiver);
    channel.sender.start();
    channel.listener.start();
    return channel;
  }

  /** Sends soon, what is made then; from any thread. */
  public void send(Supplier<byte[]> message) {
    if (!queue.offer(message)) dropped.increment();
  }

  /** Messages that were not sent: too many waited, or the server could not be reached. */
  public long dropped() {
    return dropped.sum();
  }

  /** Nothing is heard, and perhaps the connection does not know yet that it is broken. */
  public void reconnect() {
    var connection = listening;
    if (connection != null) close(connection);
  }

  private Jedis connect() {
    var jedis = new Jedis(node.address(), node.listening());
    try {
      jedis.connect();
      return jedis;
    } catch (JedisException e) {
      close(jedis);
      throw e;
    }
  }

  private void send() {
    @Nullable Jedis connection = null;
    try {
      while (!closed) {
        var message = queue.take();
        try {
          if (connection == null) connection = connect();
          connection.publish(name, message.get());
        } catch (JedisException e) {
          dropped.increment();
          warn(e);
          if (connection != null) close(connection);
          connection = null;
          pause();
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      if (connection != null) close(connection);
    }
  }

  private void listen() {
    try {
      while (!closed) {
        try (var connection = connect()) {
          listening = connection;
          connection.subscribe(new Subscription(), name);
        } catch (JedisException e) {
          warn(e);
        } finally {
          listening = null;
        }
        if (closed) return;
        receiver.disconnected();
        pause();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private final class Subscription extends BinaryJedisPubSub {
    @Override
    public void onMessage(byte[] channel, byte[] message) {
      if (!failure.isEmpty()) LOG.log(INFO, "{0} answers again", node.node());
      failure = "";
      receiver.received(message);
    }
  }

  private void warn(JedisException e) {
    if (closed || !failure.isEmpty()) return;
    failure = String.valueOf(e.getMessage());
    LOG.log(WARNING, "{0} cannot be reached: {1}; tried again", node.node(), failure);
  }

  private static void pause() throws InterruptedException {
    TimeUnit.NANOSECONDS.sleep(PAUSE.toNanos());
  }

  /** A connection that is broken says so once more when it is closed. */
  private static void close(Jedis connection) {
    try {
      connection.disconnect();
    } catch (JedisException e) {
      LOG.log(System.Logger.Level.DEBUG, "a broken connection: {0}", e.getMessage());
    }
  }

  /** Sends what waits, as far as that is quick, and stops. */
  @Override
  public void close() {
    long until = System.nanoTime() + PAUSE.toNanos();
    while (!queue.isEmpty() && System.nanoTime() - until < 0) Thread.onSpinWait();
    closed = true;
    sender.interrupt();
    reconnect();
    listener.interrupt();
  }
}
