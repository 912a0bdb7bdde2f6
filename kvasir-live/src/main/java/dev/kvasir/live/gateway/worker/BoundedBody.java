package dev.kvasir.live.gateway.worker;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientResponse;
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
      Context context, HttpClientResponse response, int bytesMax, Duration time) {
    var body = Buffer.buffer();
    Promise<Buffer> whole = Promise.promise();
    long timer =
        context
            .owner()
            .setTimer(
                Math.max(1, time.toMillis()),
                _ -> fail(whole, response, "an answer that takes longer than " + time));
    response.handler(
        chunk -> {
          if (body.length() + chunk.length() <= bytesMax) {
            body.appendBuffer(chunk);
          } else {
            fail(whole, response, "an answer of more than " + bytesMax + " bytes");
          }
        });
    response.endHandler(_ -> whole.tryComplete(body));
    response.exceptionHandler(whole::tryFail);
    return whole.future().onComplete(_ -> context.owner().cancelTimer(timer));
  }

  private static void fail(Promise<Buffer> whole, HttpClientResponse response, String why) {
    if (whole.tryFail(why)) response.request().reset();
  }
}
