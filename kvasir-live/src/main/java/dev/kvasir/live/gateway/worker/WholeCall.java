package dev.kvasir.live.gateway.worker;

import dev.kvasir.router.flow.LegFailure;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import java.time.Duration;

/** A request to a worker whose answer is wanted whole, and within a time. */
public final class WholeCall implements UpstreamCall.Listener {
  /** All of an answer. */
  public record Reply(int status, Buffer body) {}

  private static final int ANSWER_BYTES_MAX = 16 << 20;

  private final Context context;
  private final Duration time;
  private final Promise<Reply> reply = Promise.promise();

  private WholeCall(Context context, Duration time) {
    this.context = context;
    this.time = time;
  }

  public static Future<Reply> send(
      Upstream upstream, Context context, Worker worker, Upstream.Message message, Duration time) {
    var whole = new WholeCall(context, time);
    var call = UpstreamCall.send(upstream, context, worker, message, time, whole);
    var late = "no answer to " + message.path() + " from " + worker.name() + " in " + time;
    long timer =
        context
            .owner()
            .setTimer(
                Math.max(1, time.toMillis()),
                _ -> {
                  if (whole.reply.tryFail(late)) call.cancel();
                });
    return whole.reply.future().onComplete(_ -> context.owner().cancelTimer(timer));
  }

  @Override
  public void answered(WorkerAnswer answer) {
    BoundedBody.read(context, answer, ANSWER_BYTES_MAX, time)
        .onComplete(body -> reply.tryComplete(new Reply(answer.status(), body)), reply::tryFail);
  }

  @Override
  public void failed(LegFailure failure, String why) {
    reply.tryFail(why);
  }
}
