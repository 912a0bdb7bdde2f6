package dev.kvasir.live.gateway;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientResponse;

/** Reads an answer that is to be used whole; one that is too large has failed. */
final class BoundedBody {
  private BoundedBody() {}

  static Future<Buffer> read(HttpClientResponse response, int bytesMax) {
    var body = Buffer.buffer();
    Promise<Buffer> whole = Promise.promise();
    response.handler(
        chunk -> {
          if (body.length() + chunk.length() <= bytesMax) {
            body.appendBuffer(chunk);
          } else if (whole.tryFail("an answer of more than " + bytesMax + " bytes")) {
            response.request().reset();
          }
        });
    response.endHandler(_ -> whole.tryComplete(body));
    response.exceptionHandler(whole::tryFail);
    return whole.future();
  }
}
