package dev.kvasir.gateway.worker;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import java.time.Duration;

/** Reads an answer that is to be used whole; one that is too large or too slow has failed. */
public final class BoundedBody {
  private BoundedBody() {}

  /**
   * Reads it on the loop of the context.
   *
   * @param time until all of it is there, however steadily its bytes come
   */
  public static Future<Buffer> read(
      Context context, WorkerAnswer answer, int bytesMax, Duration time) {
    var body = Buffer.buffer();
    Promise<Buffer> whole = Promise.promise();
    long timer =
        context
            .owner()
            .setTimer(
                Math.max(1, time.toMillis()),
                _ -> fail(whole, answer, "an answer that takes longer than " + time));
    answer.read(
        new WorkerAnswer.Reader() {
          @Override
          public void came(Buffer part) {
            if (body.length() + part.length() <= bytesMax) {
              body.appendBuffer(part);
            } else {
              fail(whole, answer, "an answer of more than " + bytesMax + " bytes");
            }
          }

          @Override
          public void ended() {
            whole.tryComplete(body);
          }

          @Override
          public void broke(String why) {
            whole.tryFail(why);
          }
        });
    return whole.future().onComplete(_ -> context.owner().cancelTimer(timer));
  }

  private static void fail(Promise<Buffer> whole, WorkerAnswer answer, String why) {
    if (whole.tryFail(why)) answer.giveUp();
  }
}
