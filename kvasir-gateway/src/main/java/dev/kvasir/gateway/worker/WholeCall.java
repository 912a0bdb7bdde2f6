package dev.kvasir.gateway.worker;

import dev.kvasir.net.worker.WorkerMessage;
import dev.kvasir.router.flow.LegFailure;
import dev.kvasir.time.RunningTime;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import java.time.Duration;

/**
 * A request to a worker whose answer is wanted whole, and within a time. While the loop itself is
 * held up, that time does not pass: it says nothing of the worker.
 */
public final class WholeCall implements UpstreamCall.Listener {
  /** All of an answer. */
  public record Reply(int status, Buffer body) {}

  private static final int ANSWER_BYTES_MAX = 16 << 20;

  /** The factor for limits of a part of the call alone, which does not wait. */
  private static final int PARTS_LONGER = 10;

  private final Context context;
  private final int bytesMax;
  private final Duration time;
  private final Promise<Reply> reply = Promise.promise();

  private WholeCall(Context context, int bytesMax, Duration time) {
    this.context = context;
    this.bytesMax = bytesMax;
    this.time = time;
  }

  public static Future<Reply> send(
      Upstream upstream, Context context, Worker worker, WorkerMessage message, Duration time) {
    return send(upstream, context, worker, message, ANSWER_BYTES_MAX, time);
  }

  /** Sends a request whose answer has at most so many bytes; a longer one fails. */
  static Future<Reply> send(
      Upstream upstream,
      Context context,
      Worker worker,
      WorkerMessage message,
      int bytesMax,
      Duration time) {
    var whole = new WholeCall(context, bytesMax, time);
    var longer = time.multipliedBy(PARTS_LONGER);
    var call = UpstreamCall.send(upstream, context, worker, message, longer, whole);
    var late = "no answer to " + message.path() + " from " + worker.name() + " in " + time;
    var timer =
        RunningTime.after(
            new VertxLoop(context),
            time,
            () -> {
              if (whole.reply.tryFail(late)) call.cancel();
            });
    return whole.reply.future().onComplete(_ -> timer.cancel());
  }

  @Override
  public void answered(WorkerAnswer answer) {
    BoundedBody.read(context, answer, bytesMax, time.multipliedBy(PARTS_LONGER))
        .onComplete(body -> reply.tryComplete(new Reply(answer.status(), body)), reply::tryFail);
  }

  @Override
  public void failed(LegFailure failure, String why) {
    reply.tryFail(why);
  }
}
