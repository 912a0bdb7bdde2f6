package dev.kvasir.live.gateway.worker;

import dev.kvasir.Nullable;
import dev.kvasir.router.flow.LegFailure;
import io.vertx.core.Context;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import java.time.Duration;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * One request to a worker, which can be given up at any time; belongs to one loop of the network.
 *
 * <p>It ends in exactly one of: an answer that has begun, a failure, or silence after it was given
 * up.
 */
public final class UpstreamCall {
  /** Hears how the call goes. */
  public interface Listener {
    /** The head of an answer has come; whoever hears this reads the rest at once. */
    void answered(HttpClientResponse response);

    void failed(LegFailure failure, String why);
  }

  /** Hears it by two functions. */
  public static Listener listener(
      Consumer<HttpClientResponse> answered, BiConsumer<LegFailure, String> failed) {
    return new Listener() {
      @Override
      public void answered(HttpClientResponse response) {
        answered.accept(response);
      }

      @Override
      public void failed(LegFailure failure, String why) {
        failed.accept(failure, why);
      }
    };
  }

  private final Context context;
  private final Listener listener;
  private @Nullable HttpClientRequest request;
  private boolean settled;
  private boolean cancelled;
  private long timer = -1;

  private UpstreamCall(Context context, Listener listener) {
    this.context = context;
    this.listener = listener;
  }

  /** Sends the body; to be called on the loop of the context. */
  public static UpstreamCall send(
      Upstream upstream,
      Context context,
      Worker worker,
      Upstream.Message message,
      Duration firstTime,
      Listener listener) {
    var call = new UpstreamCall(context, listener);
    call.timer =
        context
            .owner()
            .setTimer(
                Math.max(1, firstTime.toMillis()),
                _ -> call.fail(LegFailure.STALLED, "no answer from " + worker.name()));
    upstream
        .request(context, worker, message)
        .onComplete(
            request -> call.connected(request, message.body()),
            failure -> call.fail(LegFailure.UNREACHABLE, why(worker, failure)));
    return call;
  }

  /** Gives the call up, wherever it is; nothing more is heard of it. */
  public void cancel() {
    if (cancelled) return;
    cancelled = true;
    settle();
    if (request != null) request.reset();
  }

  private void connected(HttpClientRequest connected, Buffer body) {
    request = connected;
    // What goes wrong is heard from the answer; these would only be logged.
    connected.exceptionHandler(_ -> {});
    connected.connection().exceptionHandler(_ -> {});
    if (cancelled) {
      connected.reset();
      return;
    }
    connected
        .send(body)
        .onComplete(
            response -> {
              // Who reads it hears of it; an answer that is not read is broken off in silence.
              response.exceptionHandler(_ -> {});
              if (settle()) listener.answered(response);
            },
            failure -> fail(LegFailure.CUT, "the worker broke off: " + failure.getMessage()));
  }

  private void fail(LegFailure failure, String why) {
    if (!settle()) return;
    cancel();
    listener.failed(failure, why);
  }

  /** Whether nothing was heard before. */
  private boolean settle() {
    if (settled) return false;
    settled = true;
    context.owner().cancelTimer(timer);
    return true;
  }

  private static String why(Worker worker, Throwable failure) {
    return "worker " + worker.name() + " cannot be reached: " + failure.getMessage();
  }
}
