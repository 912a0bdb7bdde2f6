package dev.kvasir.net.server;

import dev.kvasir.Nullable;
import dev.kvasir.net.ApiError;
import dev.kvasir.net.Refused;
import dev.kvasir.net.auth.Caller;
import io.vertx.core.Context;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.net.impl.ConnectionBase;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** A request over HTTP and its answer; belongs to the loop of its connection. */
public final class Exchange implements Reply {
  private static final long LINGER_MILLIS = 200;

  private final HttpServerRequest request;
  private final Context context;
  private final Caller caller;
  private final List<Runnable> atEnd = new ArrayList<>();
  private Buffer body = Buffer.buffer();
  private BodyShare share = BodyShare.free();
  private boolean over;
  private boolean handedOver;
  private Consumer<String> refusals = _ -> {};

  Exchange(HttpServerRequest request, Context context, Caller caller) {
    this.request = request;
    this.context = context;
    this.caller = caller;
    request.response().endHandler(_ -> end());
    request.response().closeHandler(_ -> end());
    request.exceptionHandler(_ -> {});
    request.response().exceptionHandler(_ -> {});
  }

  /** Sets the listener for the error code of a request that is refused for its content. */
  void whenRefused(Consumer<String> listener) {
    refusals = listener;
  }

  @Override
  public void guard(Runnable work) {
    Reply.super.guard(
        () -> {
          try {
            work.run();
          } catch (Refused refused) {
            refusals.accept(refused.error().code());
            throw refused;
          }
        });
  }

  /** Answers with what the work says, which may wait, as no loop of the network may. */
  public void answerApart(Supplier<String> work) {
    handOver();
    Thread.ofVirtual()
        .start(
            () ->
                guardElsewhere(
                    () -> {
                      var answer = work.get();
                      context.runOnContext(_ -> answer(200, answer));
                    }));
  }

  public HttpServerRequest request() {
    return request;
  }

  public HttpServerResponse response() {
    return request.response();
  }

  @Override
  public Context context() {
    return context;
  }

  @Override
  public Caller caller() {
    return caller;
  }

  @Override
  public String path() {
    return Objects.requireNonNullElse(request.path(), "");
  }

  @Override
  public Buffer body() {
    return body;
  }

  @Override
  public @Nullable String header(String name) {
    return request.getHeader(name);
  }

  @Override
  public boolean isOver() {
    return over;
  }

  @Override
  public void handOver() {
    handedOver = true;
  }

  boolean isHandedOver() {
    return handedOver;
  }

  @Override
  public void whenOver(Runnable task) {
    if (over) {
      task.run();
    } else {
      atEnd.add(task);
    }
  }

  @Override
  public void answer(int status, String contentType, Buffer content) {
    if (over || response().ended()) return;
    response()
        .setStatusCode(status)
        .putHeader(HttpHeaders.CONTENT_TYPE, contentType)
        .end(content)
        .onFailure(_ -> reset());
  }

  @Override
  public void fail(ApiError error) {
    if (over || response().ended()) return;
    if (response().headWritten()) {
      reset();
      return;
    }
    if (!error.allow().isEmpty()) response().putHeader(HttpHeaders.ALLOW, error.allow());
    if (error.retryAfterSeconds() > 0) {
      response().putHeader(HttpHeaders.RETRY_AFTER, Long.toString(error.retryAfterSeconds()));
    }
    if (error.status() == 401) response().putHeader("www-authenticate", "Bearer");
    answer(error.status(), error.json());
  }

  /**
   * Says why, and hears no more from this connection: it is closed a little later, since a caller
   * who still sends would not get to read the answer otherwise.
   */
  void failAndClose(ApiError error) {
    if (over || response().headWritten()) return;
    response().putHeader(HttpHeaders.CONNECTION, HttpHeaders.CLOSE);
    fail(error);
    var connection = request.connection();
    context.owner().setTimer(LINGER_MILLIS, _ -> connection.close());
  }

  /** The caller is to send its next request over another connection. */
  void closeAfterwards() {
    response().putHeader(HttpHeaders.CONNECTION, HttpHeaders.CLOSE);
    var connection = request.connection();
    whenOver(() -> context.owner().setTimer(LINGER_MILLIS, _ -> connection.close()));
  }

  @Override
  public void writeHead(Map<String, String> headers) {
    headers.forEach(response()::putHeader);
    response().setChunked(true).writeHead();
  }

  @Override
  public void write(Buffer part) {
    response().write(part);
  }

  @Override
  public void end(Buffer part) {
    response().end(part);
  }

  @Override
  public boolean isFull() {
    return response().writeQueueFull();
  }

  @Override
  public void whenDrained(Runnable task) {
    response().drainHandler(_ -> task.run());
  }

  @Override
  public void truncate() {
    request.connection().close();
  }

  /** Vert.x would first send what waits to be sent, which takes for ever where nobody reads. */
  @Override
  public void reset() {
    if (over) return;
    if (request.connection() instanceof ConnectionBase connection) {
      var _ = connection.channelHandlerContext().close();
    } else {
      response().reset();
    }
  }

  /** Has its share of the memory for bodies, until it is over. */
  void setShare(BodyShare own) {
    share = own;
    whenOver(own::end);
  }

  /** The share of this request in the memory for bodies. */
  public BodyShare share() {
    return share;
  }

  void setBody(Buffer whole) {
    body = whole;
  }

  private void end() {
    if (over) return;
    over = true;
    body = Buffer.buffer();
    for (var task : atEnd) task.run();
    atEnd.clear();
  }
}
