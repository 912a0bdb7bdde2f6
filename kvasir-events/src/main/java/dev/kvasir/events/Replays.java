package dev.kvasir.events;

import dev.kvasir.Nullable;
import dev.kvasir.router.index.KvFeed;
import dev.kvasir.time.EventLoop;
import java.time.Duration;
import java.util.function.LongConsumer;

/**
 * Decides when an engine is asked to repeat: once for many batches missed, not once for each.
 *
 * <p>A feed names the missing batch anew with every one that comes, and answers take their time. So
 * nobody is asked while an answer is coming in; when it has ended, and still something is missing
 * that was not asked for, it is asked for then. An engine that has nothing to repeat of what it
 * told has begun anew. Belongs to one loop.
 */
final class Replays {
  /** An answer of which nothing came for so long has been lost. */
  private static final Duration IDLE_MAX = Duration.ofSeconds(2);

  private final EventLoop loop;
  private final KvFeed<EngineEvent> feed;
  private final @Nullable LongConsumer request;
  private boolean considering;
  private boolean answering;

  /**
   * Flag that is set while the feed goes on from a snapshot and the engine has not been reached
   * since.
   */
  private boolean resumed;

  /** Flag that is set once a batch has come since the last request to the engine. */
  private boolean received;

  private long receivedNanos;
  private long requested;
  private long wanted;
  private long requests;

  /**
   * Asks nothing yet.
   *
   * @param request asks the engine to repeat; null where it does not repeat
   */
  Replays(
      EventLoop loop,
      KvFeed.Limits limits,
      KvFeed.Target<EngineEvent> target,
      @Nullable LongConsumer request) {
    this.loop = loop;
    this.request = request;
    this.feed = new KvFeed<>(loop, limits, target, this::want);
  }

  KvFeed<EngineEvent> feed() {
    return feed;
  }

  /** Returns the number of requests to the engine. */
  long requests() {
    return requests;
  }

  /**
   * The engine has been reached, perhaps in another life: only its first batches can tell. One that
   * does not repeat leaves open what was missed, or whether it is the same.
   */
  void connected() {
    if (resumed) check();
    else if (request == null) feed.lost();
    else sendRequest(0);
    resumed = false;
  }

  /** Goes on from there: what came before is in the target. */
  void resume(KvFeed.Position from) {
    feed.resume(from);
    resumed = true;
  }

  /** The engine was out of sight: what it told last shows whether it is the same, and what came. */
  void check() {
    if (request != null && feed.next() > 0) sendRequest(feed.next() - 1);
  }

  /** Records that a published batch has come. */
  void batchReceived() {
    received = true;
  }

  /** A batch came as an answer. */
  void answered() {
    received = true;
    receivedNanos = loop.nanos();
  }

  void ended() {
    answering = false;
    if (!received && requested < feed.next()) {
      feed.beganAnew();
      if (requested > 0) sendRequest(0);
    } else if (feed.waiting() > 0 && wanted != requested) {
      sendRequest(wanted);
    }
  }

  /**
   * Considers asking from that batch on, after what the loop has been handed already: that may be
   * what is missing.
   */
  private void want(long sequence) {
    wanted = sequence;
    if (considering) return;
    considering = true;
    loop.execute(this::consider);
  }

  private void consider() {
    considering = false;
    boolean alive = answering && loop.nanos() - receivedNanos < IDLE_MAX.toNanos();
    if (feed.waiting() > 0 && !alive) sendRequest(wanted);
  }

  private void sendRequest(long sequence) {
    if (request == null) return;
    answering = true;
    received = false;
    receivedNanos = loop.nanos();
    requested = sequence;
    requests++;
    request.accept(sequence);
  }
}
