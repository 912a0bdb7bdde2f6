package dev.kvasir.live.http;

import static java.lang.System.Logger.Level.ERROR;

import dev.kvasir.Nullable;
import io.vertx.core.Context;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.net.impl.ConnectionBase;
import java.util.ArrayList;
import java.util.List;

/**
 * One request and its answer; belongs to the loop of its connection.
 *
 * <p>Whatever becomes of it, it ends exactly once: when the answer is out, or the caller is gone.
 */
public final class Exchange {
  private static final System.Logger LOG = System.getLogger(Exchange.class.getName());
  private static final String JSON = "application/json";
  private static final long LINGER_MILLIS = 200;

  private final HttpServerRequest request;
  private final Context context;
  private final Caller caller;
  private final List<Runnable> atEnd = new ArrayList<>();
  private Buffer body = Buffer.buffer();
  private boolean over;
  private boolean handedOver;

  Exchange(HttpServerRequest request, Context context, Caller caller) {
    this.request = request;
    this.context = context;
    this.caller = caller;
    request.response().endHandler(_ -> end());
    request.response().closeHandler(_ -> end());
    request.exceptionHandler(_ -> {});
    request.response().exceptionHandler(_ -> {});
  }

  public HttpServerRequest request() {
    return request;
  }

  public HttpServerResponse response() {
    return request.response();
  }

  /** The loop of the connection, on which all of this is to be called. */
  public Context context() {
    return context;
  }

  public Caller caller() {
    return caller;
  }

  public Buffer body() {
    return body;
  }

  public @Nullable String header(String name) {
    return request.getHeader(name);
  }

  /** Whether there is nobody left to answer, or nothing left to say. */
  public boolean isOver() {
    return over;
  }

  /** Somebody answers it who has limits of time of his own; until then the server's hold. */
  public void handOver() {
    handedOver = true;
  }

  boolean isHandedOver() {
    return handedOver;
  }

  /** Runs the task when the exchange is over, in the order they came; at once if it is already. */
  public void whenOver(Runnable task) {
    if (over) {
      task.run();
    } else {
      atEnd.add(task);
    }
  }

  public void answer(int status, String json) {
    answer(status, JSON, Buffer.buffer(json));
  }

  public void answer(int status, String contentType, Buffer content) {
    if (over || response().ended()) return;
    response()
        .setStatusCode(status)
        .putHeader(HttpHeaders.CONTENT_TYPE, contentType)
        .end(content)
        .onFailure(_ -> reset());
  }

  /** Says why the request is not served; resets where an answer has already begun. */
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

  /** Does more of the work on this loop; whatever it throws is answered. */
  public void guard(Runnable work) {
    try {
      work.run();
    } catch (Refused refused) {
      fail(refused.error());
    } catch (RuntimeException | Error bug) {
      LOG.log(ERROR, "serving " + request.method() + " " + request.path() + " failed", bug);
      fail(ApiError.internal());
    }
  }

  /** As {@link #guard}, for work on another thread than that of the connection. */
  public void guardElsewhere(Runnable work) {
    try {
      work.run();
    } catch (RuntimeException | Error bug) {
      context()
          .runOnContext(
              _ ->
                  guard(
                      () -> {
                        throw bug;
                      }));
    }
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

  /** Begins an answer of events, and sends its head. */
  public EventStream stream() {
    return EventStream.begin(this);
  }

  /**
   * Breaks the connection, so that the caller cannot take what it has for all.
   *
   * <p>Vert.x would first send what waits to be sent, which takes for ever where nobody reads.
   */
  public void reset() {
    if (over) return;
    if (request.connection() instanceof ConnectionBase connection) {
      var _ = connection.channelHandlerContext().close();
    } else {
      response().reset();
    }
  }

  void take(Buffer whole) {
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
