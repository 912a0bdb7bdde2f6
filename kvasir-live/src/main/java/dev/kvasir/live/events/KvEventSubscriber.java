package dev.kvasir.live.events;

import static java.lang.System.Logger.Level.DEBUG;
import static java.lang.System.Logger.Level.WARNING;

import dev.kvasir.Nullable;
import dev.kvasir.live.LiveLoop;
import dev.kvasir.live.Threads;
import dev.kvasir.router.index.KvFeed;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZEvent;
import org.zeromq.ZMQ;
import org.zeromq.ZMQException;

/**
 * Listens to the events of one engine, vLLM, SGLang or ours, and hands them to a loop in order.
 *
 * <p>A thread of its own reads the sockets and decodes; on the loop a {@link KvFeed} brings the
 * batches into order, and asks for those that are missing. Connections are made again as often as
 * they break, and each time everything the engine still has is asked for, since it may have begun
 * anew meanwhile. Where the loop is slow the sockets have to wait, and what they then drop is asked
 * for like anything else. An engine that sends more than {@link MessageBounds} allow is left alone
 * for a while.
 */
public final class KvEventSubscriber implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(KvEventSubscriber.class.getName());
  private static final AtomicInteger MONITORS = new AtomicInteger();
  private static final int SECOND_MILLIS = 1_000;
  private static final int REQUESTS_MAX = 16;
  private static final long NONE = -1;

  /** How long an engine that sent too much is not listened to. */
  private static final Duration REST = Duration.ofMinutes(1);

  private final ZContext sockets;
  private final SubscriberSettings settings;
  private final LiveLoop loop;
  private final Replays replays;
  private final EventDecoder decoder;
  private final ZMQ.Socket live;
  private final ZMQ.Socket replay;
  private final ZMQ.Socket monitor;
  private final Wakeup wakeup;
  private final Thread thread;

  /** The batch to ask for next; only the latest request counts. */
  private final AtomicLong requested = new AtomicLong(NONE);

  private final AtomicInteger onLoop = new AtomicInteger();
  private final AtomicLong onLoopBytes = new AtomicLong();
  private final AtomicLong excesses = new AtomicLong();
  private final MessageBounds liveBounds;
  private final MessageBounds replayBounds;
  private final AtomicLong batches = new AtomicLong();
  private final AtomicLong malformed = new AtomicLong();
  private final AtomicLong unknown = new AtomicLong();
  private final AtomicLong connects = new AtomicLong();
  private volatile boolean closed;

  /** How old the last batch was; below zero before the first. Belongs to the loop. */
  private double lagSeconds = -1;

  /**
   * Begins to listen.
   *
   * @param target takes the events on the loop, such as {@link EngineBlocks}
   * @throws IOException where an endpoint is none, or cannot be listened at
   */
  public KvEventSubscriber(
      ZContext sockets,
      LiveLoop loop,
      SubscriberSettings settings,
      KvFeed.Target<EngineEvent> target)
      throws IOException {
    this.sockets = sockets;
    this.settings = settings;
    this.loop = loop;
    boolean repeats = settings.replayEndpoint() != null;
    this.replays = new Replays(loop, settings.order(), target, repeats ? this::request : null);
    this.decoder = new EventDecoder(settings.limits());
    this.live = sockets.createSocket(SocketType.SUB);
    this.replay = sockets.createSocket(SocketType.DEALER);
    this.monitor = sockets.createSocket(SocketType.PAIR);
    this.wakeup = new Wakeup();
    int frameBytesMax = settings.limits().frameBytesMax();
    this.liveBounds = new MessageBounds(frameBytesMax, wakeup::raise);
    this.replayBounds = new MessageBounds(frameBytesMax, wakeup::raise);
    try {
      connect();
    } catch (ZMQException | IllegalArgumentException e) {
      closeSockets();
      throw new IOException(
          "cannot listen to KV events at " + settings.endpoint() + ": expected tcp://HOST:PORT", e);
    }
    this.thread =
        Thread.ofPlatform()
            .name("kv-events of " + settings.endpoint())
            .daemon()
            .unstarted(this::run);
    thread.start();
  }

  private void connect() {
    prepare(live, liveBounds);
    prepare(replay, replayBounds);
    replay.setSndHWM(REQUESTS_MAX);
    var inside = "inproc://kv-events-" + MONITORS.incrementAndGet();
    live.monitor(inside, ZMQ.EVENT_CONNECTED | ZMQ.EVENT_ACCEPTED);
    monitor.connect(inside);
    live.subscribe(settings.topic().getBytes(StandardCharsets.UTF_8));
    attach();
  }

  private void attach() {
    if (settings.replayEndpoint() != null) replay.connect(settings.replayEndpoint());
    if (isBound()) live.bind(settings.endpoint());
    else live.connect(settings.endpoint());
  }

  private void detach() {
    if (settings.replayEndpoint() != null) replay.disconnect(settings.replayEndpoint());
    if (isBound()) live.unbind(live.getLastEndpoint());
    else live.disconnect(settings.endpoint());
  }

  private boolean isBound() {
    return settings.endpoint().contains("*");
  }

  private void prepare(ZMQ.Socket socket, MessageBounds bounds) {
    socket.setMsgAllocator(bounds);
    socket.setLinger(0);
    socket.setMaxMsgSize(settings.limits().frameBytesMax());
    socket.setReconnectIVL(SECOND_MILLIS / 10);
    socket.setReconnectIVLMax(5 * SECOND_MILLIS);
    socket.setHeartbeatIvl(5 * SECOND_MILLIS);
    socket.setHeartbeatTimeout(15 * SECOND_MILLIS);
  }

  /** What it has seen so far; to be called on the loop. */
  public SubscriberStats stats() {
    var feed = replays.feed();
    return new SubscriberStats(
        batches.get(),
        malformed.get(),
        excesses.get(),
        unknown.get(),
        connects.get(),
        replays.requests(),
        feed.duplicates(),
        feed.gaps(),
        feed.restarts(),
        lagSeconds);
  }

  /** Stops listening; not to be called on the loop, whose work it may be waiting for. */
  @Override
  public void close() {
    closed = true;
    if (!thread.isAlive()) return;
    wakeup.raise();
    Threads.join(thread);
  }

  /** The engine was out of sight: asks whether it is the same; to be called on the loop. */
  public void check() {
    replays.check();
  }

  private void request(long sequence) {
    if (closed) return;
    requested.set(sequence);
    wakeup.raise();
  }

  private void run() {
    try (var all = sockets.createPoller(4);
        var wakeups = sockets.createPoller(1)) {
      all.register(wakeup.channel(), ZMQ.Poller.POLLIN);
      wakeups.register(wakeup.channel(), ZMQ.Poller.POLLIN);
      for (var socket : List.of(monitor, live, replay)) all.register(socket, ZMQ.Poller.POLLIN);
      while (!closed) {
        if (isExceeded()) {
          rest(wakeups);
          continue;
        }
        boolean ready = isReady();
        (ready ? all : wakeups).poll(-1);
        wakeup.lower();
        sendRequest();
        if (ready) receive();
      }
    } catch (ZMQException | RejectedExecutionException e) {
      LOG.log(DEBUG, "{0} ends: {1}", thread.getName(), e.getMessage());
    } finally {
      closeSockets();
    }
  }

  private boolean isReady() {
    return onLoop.get() < settings.batchesMax()
        && onLoopBytes.get() < settings.limits().frameBytesMax();
  }

  private boolean isExceeded() {
    return liveBounds.isExceeded() || replayBounds.isExceeded();
  }

  /** Breaks the connections of an engine that sends too much, and makes them again later. */
  private void rest(ZMQ.Poller wakeups) {
    var bounds = liveBounds.isExceeded() ? liveBounds : replayBounds;
    boolean first = excesses.getAndIncrement() == 0;
    LOG.log(
        first ? WARNING : DEBUG,
        "{0} is disconnected for {1} s: the engine sent {2}",
        thread.getName(),
        REST.toSeconds(),
        bounds.excess());
    detach();
    long end = System.nanoTime() + REST.toNanos();
    for (long left = REST.toNanos(); !closed && left > 0; left = end - System.nanoTime()) {
      wakeups.poll(Math.clamp(left / 1_000_000, 1, SECOND_MILLIS / 10));
      wakeup.lower();
      // A socket ends its connections only when it is asked for something.
      discard(live);
      discard(replay);
    }
    if (closed) return;
    liveBounds.reset();
    replayBounds.reset();
    attach();
  }

  private static void discard(ZMQ.Socket socket) {
    var frames = WireFrames.of(socket);
    while (!frames.isEmpty()) frames = WireFrames.of(socket);
  }

  /** If the engine cannot be reached the request is lost, and made anew once it can be. */
  private void sendRequest() {
    long from = requested.getAndSet(NONE);
    if (from == NONE) return;
    if (!replay.send(WireFrames.EMPTY, ZMQ.DONTWAIT | ZMQ.SNDMORE)) return;
    replay.send(WireFrames.number(from), ZMQ.DONTWAIT);
  }

  /** A message of each socket that has one. */
  private void receive() {
    var event = ZEvent.recv(monitor, ZMQ.DONTWAIT);
    if (event != null) connected();
    var published = WireFrames.of(live, liveBounds::taken);
    if (!published.isEmpty()) take(WireFrames.live(published), replays::told);
    else liveBounds.drained();
    var answer = WireFrames.of(replay, replayBounds::taken);
    if (answer.isEmpty()) {
      replayBounds.drained();
      return;
    }
    var numbered = WireFrames.replayed(answer);
    if (numbered != null && numbered.isEnd()) loop.execute(replays::ended);
    else take(numbered, replays::answered);
  }

  private void connected() {
    connects.incrementAndGet();
    loop.execute(replays::connected);
  }

  private void take(WireFrames.@Nullable Numbered numbered, Runnable before) {
    if (numbered == null || numbered.isEnd()) {
      drop("frames that are not those of a batch");
      loop.execute(before);
      return;
    }
    switch (decoder.decode(numbered.payload())) {
      case EventDecoder.Outcome.Malformed(var reason) -> {
        drop(reason);
        loop.execute(before);
      }
      case EventDecoder.Outcome.Decoded(var batch, var passed) -> {
        batches.incrementAndGet();
        unknown.addAndGet(passed);
        onLoop.incrementAndGet();
        int size = numbered.payload().length;
        onLoopBytes.addAndGet(size);
        loop.execute(() -> accept(numbered.sequence(), batch, size, before));
      }
    }
  }

  private void accept(long sequence, EngineBatch batch, int size, Runnable before) {
    try {
      before.run();
      replays.feed().accept(sequence, batch.stampNanos(), batch.events());
      lagSeconds = Math.max(0, System.currentTimeMillis() / 1e3 - batch.seconds());
    } finally {
      int count = onLoop.getAndDecrement();
      long bytes = onLoopBytes.getAndAdd(-size);
      long bytesMax = settings.limits().frameBytesMax();
      boolean resumes = bytes >= bytesMax && bytes - size < bytesMax;
      if (count == settings.batchesMax() || resumes) wakeup.raise();
    }
  }

  private void drop(String reason) {
    boolean first = malformed.getAndIncrement() == 0;
    LOG.log(first ? WARNING : DEBUG, "{0} dropped a message: {1}", thread.getName(), reason);
  }

  private void closeSockets() {
    for (var socket : List.of(live, replay, monitor)) socket.close();
    wakeup.close();
  }
}
