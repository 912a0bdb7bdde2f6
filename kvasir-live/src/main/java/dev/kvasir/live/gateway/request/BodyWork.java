package dev.kvasir.live.gateway.request;

import io.vertx.core.Context;
import io.vertx.core.Future;
import java.util.concurrent.Callable;

/**
 * Work that takes time in proportion to a body: on the loop that has read it, or beside that loop
 * where the body is large, since all callers of the loop would wait for it.
 */
final class BodyWork {
  /** A body of this size takes about 0.1 ms to be parsed and named. */
  private static final int ON_LOOP_BYTES_MAX = 128 << 10;

  private BodyWork() {}

  /** What the work answers or throws, on the context. */
  @SuppressWarnings("NullAway") // work that answers null is none
  static <T> Future<T> run(Context context, int bytes, Callable<T> work) {
    if (bytes > ON_LOOP_BYTES_MAX) return context.executeBlocking(work, false);
    try {
      return Future.succeededFuture(work.call());
    } catch (Exception e) {
      return Future.failedFuture(e);
    }
  }
}
