package dev.kvasir.events;

import static java.lang.System.Logger.Level.DEBUG;
import static java.lang.System.Logger.Level.WARNING;

import dev.kvasir.Nullable;
import dev.kvasir.events.zmtp.ZmtpConnection;
import dev.kvasir.events.zmtp.ZmtpRole;
import dev.kvasir.events.zmtp.ZmtpSocket;
import dev.kvasir.events.zmtp.ZmtpTimes;
import dev.kvasir.net.LiveLoop;
import dev.kvasir.router.index.KvFeed;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Listens to the events of one engine, vLLM, SGLang or ours, and hands them to a loop in order.
 *
 * <p>A thread reads what the engine tells and another what it repeats, and both decode; on the loop
 * a {@link KvFeed} brings the batches into order, and asks for those that are missing. Connections
 * are made again as often as they break, and each time everything the engine still has is asked
 * for, since it may have begun anew meanwhile. Where the loop is slow nothing is read, and what the
 * engine then drops is asked for like anything else. An engine that sends more than is allowed is
 * left alone for a while.
 */
public final class KvEventSubscriber implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(KvEventSubscriber.class.getName());
  private static final long NONE = -1;

  /** A batch of a real engine takes no more than so many bytes for each on the wire. */
  private static final int USUAL_GROWTH = 8;

  private static final int USUAL_BYTES_MIN = 4 << 10;

  /** From when on what is heard counts. */
  private enum Start {
    AT_ONCE,
    WHEN_TOLD
  }

  private final SubscriberSettings settings;
  private final LiveLoop loop;
  private final Replays replays;
  private final EventDecoder decoder;
  private final EventRoom.Share share;
  private final String name;
  private final ZmtpTimes times;
  private final byte[] topic;
  private final ZmtpSocket live;
  private final @Nullable ZmtpSocket replay;
  private final AtomicLong excesses = new AtomicLong();
  private final AtomicLong batches = new AtomicLong();
  private final AtomicLong malformed = new AtomicLong();
  private final AtomicLong unreadable = new AtomicLong();
  private final AtomicLong unknown = new AtomicLong();
  private final AtomicLong connects = new AtomicLong();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition room = lock.newCondition();

  /** Messages and bytes that wait for the loop; under the lock, like all that follows. */
  private int onLoop;

  private long onLoopBytes;
  private boolean closed;

  /** The latest request that was not answered to its end; who is reached anew is asked anew. */
  private long unanswered = NONE;

  private @Nullable ZmtpConnection replaying;

  /** Tasks that wait until it is known from where on events count. Belongs to the loop. */
  private final ArrayDeque<Runnable> waiting = new ArrayDeque<>();

  private boolean begun;

  /** Age of the last batch; below zero before the first. Belongs to the loop. */
  private double lagSeconds = -1;

  /**
   * Begins to listen.
   *
   * @param target takes the events on the loop, such as {@link EngineBlocks}
   * @throws IOException where an endpoint is none, or cannot be listened at
   */
  public KvEventSubscriber(
      LiveLoop loop, SubscriberSettings settings, KvFeed.Target<EngineEvent> target)
      throws IOException {
    this(loop, settings, target, ZmtpTimes.DEFAULT, Start.AT_ONCE);
  }

  /**
   * Begins to listen, and keeps what it hears until it is to {@link #begin} or to {@link #resume}:
   * what another listener knows can then be asked for without that anything is missed meanwhile.
   */
  public static KvEventSubscriber waiting(
      LiveLoop loop, SubscriberSettings settings, EngineBlocks blocks) throws IOException {
    return new KvEventSubscriber(loop, settings, blocks, ZmtpTimes.DEFAULT, Start.WHEN_TOLD);
  }

  /** Takes in what was heard, and what the engine repeats; to be called on the loop. */
  public void begin() {
    begun = true;
    while (!waiting.isEmpty()) waiting.poll().run();
  }

  /**
   * Takes in what was heard after the snapshot was made; to be called on the loop.
   *
   * @param blocks the target of this subscriber, which has nothing yet
   * @throws IllegalArgumentException for a snapshot that cannot be one; it is still to begin then
   */
  public void resume(EngineSnapshot snapshot, EngineBlocks blocks) {
    blocks.restore(snapshot);
    replays.resume(snapshot.position());
    begin();
  }

  /**
   * Returns a snapshot of the blocks; null where nothing was heard yet. To be called on the loop.
   */
  public @Nullable EngineSnapshot snapshot(EngineBlocks blocks) {
    var position = replays.feed().position();
    return position == null ? null : blocks.snapshot(position);
  }

  private void onceBegun(Runnable task) {
    if (begun) task.run();
    else waiting.add(task);
  }

  KvEventSubscriber(
      LiveLoop loop,
      SubscriberSettings settings,
      KvFeed.Target<EngineEvent> target,
      ZmtpTimes times)
      throws IOException {
    this(loop, settings, target, times, Start.AT_ONCE);
  }

  private KvEventSubscriber(
      LiveLoop loop,
      SubscriberSettings settings,
      KvFeed.Target<EngineEvent> target,
      ZmtpTimes times,
      Start start)
      throws IOException {
    this.begun = start == Start.AT_ONCE;
    this.settings = settings;
    this.loop = loop;
    this.times = times;
    this.name = "kv-events of " + settings.endpoint();
    this.topic = settings.topic().getBytes(StandardCharsets.UTF_8);
    this.decoder = new EventDecoder(settings.limits());
    this.share = settings.room().new Share();
    var repeats = settings.replayEndpoint();
    this.replays =
        new Replays(loop, settings.order(), target, repeats == null ? null : this::request);
    this.replay = repeats == null ? null : socket(repeats, ZmtpRole.DEALER, new Answers());
    this.live = socket(settings.endpoint(), ZmtpRole.SUB, new BatchReceiver());
    if (replay != null) replay.start();
    live.start();
  }

  private ZmtpSocket socket(String endpoint, ZmtpRole role, ZmtpSocket.Receiver receiver)
      throws IOException {
    if (role == ZmtpRole.DEALER && endpoint.contains("*")) {
      throw new IOException(
          "cannot ask for KV events at " + endpoint + ": expected the engine's host, not *");
    }
    try {
      return new ZmtpSocket(
          name, endpoint, role, times, settings.limits().frameBytesMax(), receiver);
    } catch (IOException e) {
      throw new IOException(
          "cannot listen to KV events at %s: %s; expected tcp://HOST:PORT"
              .formatted(endpoint, e.getMessage()),
          e);
    }
  }

  /** Returns the port that engines connect to, if they do that by themselves. */
  int port() {
    return live.port();
  }

  /** Returns what was seen so far; to be called on the loop. */
  public SubscriberStats stats() {
    var feed = replays.feed();
    return new SubscriberStats(
        batches.get(),
        malformed.get(),
        unreadable.get(),
        excesses.get(),
        unknown.get(),
        connects.get(),
        replays.requests(),
        feed.duplicates(),
        feed.gaps(),
        feed.restarts(),
        lagSeconds);
  }

  /** Stops listening, without waiting for the engine. */
  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      room.signalAll();
    } finally {
      lock.unlock();
    }
    share.close();
    live.close();
    if (replay != null) replay.close();
  }

  /** The engine was out of sight: asks whether it is the same; to be called on the loop. */
  public void check() {
    onceBegun(replays::check);
  }

  /** Behaviour that both connections have in common. */
  private abstract class Bounded implements ZmtpSocket.Receiver {
    @Override
    public void awaitRoom() {
      KvEventSubscriber.this.awaitRoom();
    }

    @Override
    public void exceeded(String what) {
      rest(what);
    }
  }

  /** Receiver of the batches that the engine publishes. */
  private final class BatchReceiver extends Bounded {
    @Override
    public void connected(ZmtpConnection connection) {
      connection.send(WireFrames.subscription(topic));
      connects.incrementAndGet();
      loop.execute(() -> onceBegun(replays::connected));
    }

    @Override
    public void received(List<byte[]> parts) {
      receive(WireFrames.live(parts, topic), parts, replays::batchReceived);
    }
  }

  /** Receiver of what the engine repeats. */
  private final class Answers extends Bounded {
    @Override
    public void connected(ZmtpConnection connection) {
      lock.lock();
      try {
        replaying = connection;
        if (unanswered != NONE) sendRequest(connection, unanswered);
      } finally {
        lock.unlock();
      }
    }

    @Override
    public void received(List<byte[]> parts) {
      var numbered = WireFrames.replayed(parts);
      if (numbered == null || !numbered.isEnd()) {
        receive(numbered, parts, replays::answered);
        return;
      }
      answered();
      hand(0, replays::ended);
    }
  }

  /** Only the latest request counts; one that finds nobody is made when the engine is reached. */
  private void request(long sequence) {
    lock.lock();
    try {
      unanswered = sequence;
      if (replaying != null) sendRequest(replaying, sequence);
    } finally {
      lock.unlock();
    }
  }

  private static void sendRequest(ZmtpConnection connection, long sequence) {
    connection.send(WireFrames.EMPTY, WireFrames.number(sequence));
  }

  private void answered() {
    lock.lock();
    try {
      unanswered = NONE;
    } finally {
      lock.unlock();
    }
  }

  /** Leaves an engine that sends too much alone for a while. */
  private void rest(String what) {
    boolean first = excesses.getAndIncrement() == 0;
    LOG.log(
        first ? WARNING : DEBUG,
        "{0} is disconnected for {1} s: the engine sent {2}",
        name,
        times.rest().toSeconds(),
        what);
    live.rest();
    if (replay != null) replay.rest();
  }

  /** Nothing is read while the loop is behind, so that the engine's own queue fills. */
  private void awaitRoom() {
    lock.lock();
    try {
      while (!closed && !hasRoom()) room.awaitUninterruptibly();
    } finally {
      lock.unlock();
    }
  }

  private boolean hasRoom() {
    return onLoop < settings.batchesMax() && onLoopBytes < settings.limits().frameBytesMax();
  }

  private void receive(
      WireFrames.@Nullable Numbered numbered, List<byte[]> parts, Runnable before) {
    int size = 0;
    for (var part : parts) size += part.length;
    if (numbered == null || numbered.isEnd()) {
      drop("frames that are not those of a batch");
      hand(size, before);
      return;
    }
    switch (decode(numbered.payload())) {
      case EventDecoder.Outcome.Malformed(var reason) -> {
        drop(reason);
        hand(size, before);
      }
      case EventDecoder.Outcome.TooMuch(var reason) -> {
        drop(reason);
        hand(size, before);
        rest(reason);
      }
      case EventDecoder.Outcome.Decoded decoded -> {
        batches.incrementAndGet();
        unknown.addAndGet(decoded.unknown());
        leaveOut(decoded);
        hand(
            size,
            () -> {
              before.run();
              accept(numbered.sequence(), decoded);
            });
      }
    }
  }

  /** Reads a message when all that is read of all engines leaves room for it. */
  private EventDecoder.Outcome decode(byte[] frame) {
    long most = settings.limits().decodedBytesMax();
    long usual = Math.min(most, USUAL_BYTES_MIN + (long) frame.length * USUAL_GROWTH);
    var outcome = decode(frame, usual);
    if (outcome instanceof EventDecoder.Outcome.TooMuch && usual < most) {
      return decode(frame, most);
    }
    return outcome;
  }

  private EventDecoder.Outcome decode(byte[] frame, long bytesMax) {
    if (!share.reserve(bytesMax)) return new EventDecoder.Outcome.Malformed("closed");
    long kept = 0;
    try {
      var outcome = decoder.decode(frame, bytesMax);
      if (outcome instanceof EventDecoder.Outcome.Decoded decoded) kept = decoded.bytes();
      return outcome;
    } finally {
      share.give(bytesMax - kept);
    }
  }

  private void leaveOut(EventDecoder.Outcome.Decoded decoded) {
    if (decoded.unreadable() == 0) return;
    boolean first = unreadable.getAndAdd(decoded.unreadable()) == 0;
    LOG.log(
        first ? WARNING : DEBUG,
        "{0}: {1} events of a batch cannot be read, and are left out: {2}",
        name,
        decoded.unreadable(),
        decoded.reason());
  }

  /** Hands to the loop what a message of that size means. */
  private void hand(int size, Runnable meaning) {
    lock.lock();
    try {
      if (closed) return;
      onLoop++;
      onLoopBytes += size;
    } finally {
      lock.unlock();
    }
    // Here, where the loop rests: to wake it for each message costs more than most messages.
    loop.executeHere(
        () ->
            onceBegun(
                () -> {
                  try {
                    meaning.run();
                  } finally {
                    done(size);
                  }
                }));
  }

  private void done(int size) {
    lock.lock();
    try {
      onLoop--;
      onLoopBytes -= size;
      if (hasRoom()) room.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void accept(long sequence, EventDecoder.Outcome.Decoded decoded) {
    var batch = decoded.batch();
    Runnable left = () -> share.give(decoded.bytes());
    replays.feed().accept(sequence, batch.stampNanos(), batch.events(), left);
    lagSeconds = Math.max(0, System.currentTimeMillis() / 1e3 - batch.seconds());
  }

  private void drop(String reason) {
    boolean first = malformed.getAndIncrement() == 0;
    LOG.log(first ? WARNING : DEBUG, "{0} dropped a message: {1}", name, reason);
  }
}
