package dev.kvasir.events;

import static java.lang.System.Logger.Level.DEBUG;

import dev.kvasir.net.Threads;
import java.io.IOException;
import java.nio.channels.ClosedSelectorException;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;
import org.zeromq.ZMQException;
import zmq.Msg;

/**
 * Tells subscribers what becomes of an engine's blocks, and repeats what they missed, as vLLM does.
 *
 * <p>The engine only puts batches in a queue; a thread of its own encodes and sends them. A batch
 * that finds the queue full is not told, and the next one begins with a clearing, so that nobody
 * believes in blocks whose removal was never told.
 */
public final class KvEventPublisher implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(KvEventPublisher.class.getName());
  private static final int REQUEST_FRAME_BYTES_MAX = 256;
  private static final double NANOS_PER_SECOND = 1e9;

  private final PublisherSettings settings;
  private final InstantSource clock;
  private final ArrayBlockingQueue<List<EngineEvent>> queue;
  private final ReplayBuffer buffer;
  private final ZMQ.Socket live;
  private final ZMQ.Socket replay;
  private final ZContext sockets;
  private final Wakeup wakeup;
  private final byte[] topic;
  private final Thread thread;
  private final AtomicLong published = new AtomicLong();
  private final AtomicLong dropped = new AtomicLong();
  private final AtomicLong replays = new AtomicLong();

  /** Belongs to the loop that publishes. */
  private boolean overflowed;

  private volatile boolean closed;

  /**
   * Begins to listen for subscribers.
   *
   * @throws IOException where it cannot listen at the endpoints
   */
  public KvEventPublisher(ZContext sockets, PublisherSettings settings, InstantSource clock)
      throws IOException {
    this.sockets = sockets;
    this.settings = settings;
    this.clock = clock;
    this.queue = new ArrayBlockingQueue<>(settings.queueMax());
    this.buffer = new ReplayBuffer(settings.replayBatchesMax(), settings.replayBytesMax());
    this.topic = settings.topic().getBytes(StandardCharsets.UTF_8);
    this.live = sockets.createSocket(SocketType.PUB);
    live.setSndHWM(settings.peerQueueMax());
    this.replay = sockets.createSocket(SocketType.ROUTER);
    replay.setSndHWM(2 * settings.replayBatchesMax());
    bind(live, settings.endpoint());
    bind(replay, settings.replayEndpoint());
    this.wakeup = new Wakeup();
    this.thread = Thread.ofPlatform().name("kv-events " + endpoint()).daemon().unstarted(this::run);
    thread.start();
  }

  private void bind(ZMQ.Socket socket, String endpoint) throws IOException {
    socket.setLinger(0);
    socket.setMaxMsgSize(REQUEST_FRAME_BYTES_MAX);
    socket.setMsgAllocator(KvEventPublisher::allocate);
    try {
      socket.bind(endpoint);
    } catch (ZMQException | IllegalArgumentException e) {
      live.close();
      replay.close();
      throw new IOException(
          "cannot publish KV events at " + endpoint + ": choose another port, or * for a free one",
          e);
    }
  }

  /**
   * ZeroMQ refuses lengths over its maximum, but takes one of 64 bits that is negative, and asks
   * here for its lower half.
   */
  private static Msg allocate(int size) {
    return new Msg(size >= 0 && size <= REQUEST_FRAME_BYTES_MAX ? size : 0);
  }

  /** Returns the endpoint that subscribers connect to. */
  public String endpoint() {
    return live.getLastEndpoint();
  }

  /** Returns the endpoint at which subscribers ask for what they missed. */
  public String replayEndpoint() {
    return replay.getLastEndpoint();
  }

  /** Batches sent. */
  public long published() {
    return published.get();
  }

  /** Batches that found the queue full, or the publisher closed. */
  public long dropped() {
    return dropped.get();
  }

  /** Returns how often a subscriber asked for what it missed. */
  public long replays() {
    return replays.get();
  }

  /** Tells what happened in one step; called from one loop, and never waits. */
  public void publish(List<EngineEvent> events) {
    if (closed) {
      dropped.incrementAndGet();
      return;
    }
    var outgoing = events;
    if (overflowed) {
      outgoing = new ArrayList<>(List.of(new EngineEvent.Cleared()));
      outgoing.addAll(events);
    }
    overflowed = !queue.offer(List.copyOf(outgoing));
    if (overflowed) dropped.incrementAndGet();
    wakeup.raise();
  }

  /** Stops at once; what waits is dropped. */
  @Override
  public void close() {
    closed = true;
    if (!thread.isAlive()) return;
    wakeup.raise();
    Threads.join(thread);
  }

  private void run() {
    try (var poller = sockets.createPoller(2)) {
      int wake = poller.register(wakeup.channel(), ZMQ.Poller.POLLIN);
      int replayIndex = poller.register(replay, ZMQ.Poller.POLLIN);
      while (!closed) {
        poller.poll(-1);
        if (poller.pollin(wake)) wakeup.lower();
        sendAll();
        if (poller.pollin(replayIndex)) answer(WireFrames.of(replay));
      }
    } catch (ZMQException | ClosedSelectorException e) {
      LOG.log(DEBUG, "the sockets of {0} are gone: {1}", thread.getName(), e.getMessage());
    } finally {
      live.close();
      replay.close();
      wakeup.close();
    }
  }

  private void sendAll() {
    for (var events = queue.poll(); events != null; events = queue.poll()) send(events);
  }

  private void send(List<EngineEvent> events) {
    var now = clock.instant();
    double seconds = now.getEpochSecond() + now.getNano() / NANOS_PER_SECOND;
    var payload = EventEncoder.encode(new EngineBatch(seconds, events, 0), settings.encoding());
    long sequence = buffer.add(payload);
    live.sendMore(topic);
    live.sendMore(WireFrames.number(sequence));
    live.send(payload);
    published.incrementAndGet();
  }

  private void answer(List<byte[]> frames) {
    long from = WireFrames.requestedSequence(frames);
    if (from == WireFrames.END) {
      LOG.log(DEBUG, "{0} was asked something else in {1} frames", thread.getName(), frames.size());
      return;
    }
    replays.incrementAndGet();
    var peer = frames.getFirst();
    buffer.from(from, (sequence, payload) -> reply(peer, topic, sequence, payload));
    reply(peer, WireFrames.EMPTY, WireFrames.END, WireFrames.EMPTY);
  }

  private void reply(byte[] peer, byte[] topic, long sequence, byte[] payload) {
    replay.sendMore(peer);
    replay.sendMore(WireFrames.EMPTY);
    replay.sendMore(topic);
    replay.sendMore(WireFrames.number(sequence));
    replay.send(payload);
  }
}
