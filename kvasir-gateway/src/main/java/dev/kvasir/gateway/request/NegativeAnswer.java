package dev.kvasir.gateway.request;

import dev.kvasir.Nullable;
import dev.kvasir.gateway.worker.WorkerAnswer;
import dev.kvasir.net.ApiError;
import dev.kvasir.net.server.Exchange;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;

/**
 * A worker's answer that says no, kept in case no other worker has a better one.
 *
 * @param attempt in which it came
 */
record NegativeAnswer(
    int attempt, int status, String type, @Nullable String retryAfter, Buffer body) {
  /** The time after which to come again, if all workers are busy and none says when. */
  private static final String RETRY_SECONDS = "1";

  /** Keeps an answer, of which the body may not have come. */
  static NegativeAnswer of(int attempt, WorkerAnswer answer, @Nullable Buffer body) {
    int status = answer.status();
    var lost = ApiError.badUpstream("a worker answered with status " + status + " and no more");
    var type = answer.headers().get(HttpHeaders.CONTENT_TYPE);
    var retryAfter = AnswerHeaders.retryAfter(answer.headers());
    if (retryAfter == null && AnswerStatus.isBusy(status)) retryAfter = RETRY_SECONDS;
    boolean isEmpty = body == null || body.length() == 0;
    return new NegativeAnswer(
        attempt,
        status,
        type == null || isEmpty ? "application/json" : type,
        retryAfter,
        body == null || isEmpty ? Buffer.buffer(lost.json()) : body);
  }

  /** Sends it to the caller. */
  void send(Exchange exchange) {
    if (retryAfter != null) exchange.response().putHeader(HttpHeaders.RETRY_AFTER, retryAfter);
    exchange.answer(status, type, body);
  }
}
