package dev.kvasir.net.server;

import dev.kvasir.Nullable;
import dev.kvasir.net.ApiError;
import dev.kvasir.net.Refused;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.concurrent.Callable;

/**
 * The bytes that one request holds of those for all bodies, and the work over its body; from any
 * thread.
 *
 * <p>A request that is over gives all of them back, but not before work that has begun has ended:
 * such work still needs what it was begun with.
 */
public final class BodyShare {
  private static final Duration SOON = Duration.ofSeconds(1);

  /** Work over a body of this size takes about 0.1 ms. */
  private static final int ON_LOOP_BYTES_MAX = 128 << 10;

  /** The factor by which a usual body grows when it is read; the budget has room for it. */
  private static final int USUAL_FACTOR = 4;

  private static final int USUAL_BYTES = 16 << 10;

  private final @Nullable Bodies bodies;
  private final String holder;
  private long reserved;
  private long forReading;
  private long held;
  private int working;
  private boolean over;

  BodyShare(@Nullable Bodies bodies, String holder) {
    this.bodies = bodies;
    this.holder = holder;
  }

  /** For a body that no caller has sent. */
  public static BodyShare free() {
    return new BodyShare(null, "");
  }

  /** Reserves more bytes; throws {@link Refused} if there are none. */
  public synchronized void reserve(long bytes) {
    requireOpen();
    if (bodies == null) return;
    var reservation = bodies.budget().reserve(holder, bytes);
    if (reservation != ByteBudget.Reservation.YES) throw new Refused(error(reservation));
    reserved += bytes;
  }

  private static ApiError error(ByteBudget.Reservation reservation) {
    if (reservation == ByteBudget.Reservation.ALL_IN_USE) {
      return ApiError.unavailable("no_memory", "server is out of request memory; retry", SOON);
    }
    var message = "too many bytes of this caller are in flight; retry";
    return ApiError.tooMany("too_many_bytes", message, SOON);
  }

  /** Holds exactly so many for what has come so far; throws {@link Refused} where it cannot. */
  public synchronized void hold(long bytes) {
    long more = bytes - held;
    if (more > 0) {
      reserve(more);
    } else if (more < 0 && bodies != null && !over) {
      bodies.budget().give(holder, -more);
      reserved += more;
    }
    held = bytes;
  }

  /**
   * Reserves what a body needs beyond its bytes to be read, until it {@link #isRead}.
   *
   * @param heapBytes of all that is made of it
   */
  public synchronized void reserveToRead(long heapBytes, int bodyBytes) {
    long more = heapBytes - USUAL_BYTES - (long) USUAL_FACTOR * bodyBytes;
    if (more <= 0 || bodies == null) return;
    long most = bodies.budget().bytesMax() / 2;
    if (more > most) {
      throw new Refused(
          ApiError.badRequest(
              ("the body takes %d bytes of memory to be read, and a caller has %d: send fewer"
                      + " fields and values, or raise limits.http.bodies-bytes-max")
                  .formatted(more, most)));
    }
    reserve(more);
    forReading += more;
  }

  /** Gives up the parsed body, which is no longer needed. */
  public synchronized void isRead() {
    if (bodies == null || over) return;
    bodies.budget().give(holder, forReading);
    reserved -= forReading;
    forReading = 0;
  }

  /** Throws {@link Refused} where nobody waits for the answer any more. */
  public synchronized void requireOpen() {
    if (!over) return;
    throw new Refused(
        ApiError.unavailable("not_prepared", "the request is over before it was read", SOON));
  }

  /** The request is over. */
  public synchronized void end() {
    over = true;
    giveBackIfEnded();
  }

  private void giveBackIfEnded() {
    if (bodies == null || !over || working > 0) return;
    bodies.budget().give(holder, reserved);
    reserved = 0;
  }

  /**
   * Does work that takes time in proportion to a body, and answers on the context: at once where
   * the body is small, else beside the loop, in turn with other work of the same holder.
   */
  @SuppressWarnings("NullAway") // work that answers null is none
  public <T> Future<T> work(Context context, int bytes, Callable<T> work) {
    if (bytes <= ON_LOOP_BYTES_MAX) {
      try {
        return Future.succeededFuture(guarded(work));
      } catch (Exception e) {
        return Future.failedFuture(e);
      }
    }
    var done = Promise.<T>promise();
    Runnable start = () -> context.executeBlocking(() -> guarded(work), false).onComplete(done);
    if (bodies == null) {
      start.run();
      return done.future();
    }
    bodies.start(holder, start);
    return done.future().onComplete(_ -> bodies.ended(holder));
  }

  private <T> T guarded(Callable<T> work) throws Exception {
    synchronized (this) {
      requireOpen();
      working++;
    }
    try {
      return work.call();
    } finally {
      synchronized (this) {
        working--;
        giveBackIfEnded();
      }
    }
  }
}
