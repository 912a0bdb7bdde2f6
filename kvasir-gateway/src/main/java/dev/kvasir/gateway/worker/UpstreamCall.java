package dev.kvasir.gateway.worker;

import dev.kvasir.Nullable;
import dev.kvasir.net.client.ClientAnswer;
import dev.kvasir.net.client.ClientCall;
import dev.kvasir.net.worker.LocalWorker;
import dev.kvasir.net.worker.WorkerMessage;
import dev.kvasir.router.flow.LegFailure;
import io.vertx.core.Context;
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
    /** The head of an answer has come; the listener reads the rest at once. */
    void answered(WorkerAnswer answer);

    void failed(LegFailure failure, String why);
  }

  /** Returns a listener made of two functions. */
  public static Listener listener(
      Consumer<WorkerAnswer> answered, BiConsumer<LegFailure, String> failed) {
    return new Listener() {
      @Override
      public void answered(WorkerAnswer answer) {
        answered.accept(answer);
      }

      @Override
      public void failed(LegFailure failure, String why) {
        failed.accept(failure, why);
      }
    };
  }

  private final Context context;
  private final Listener listener;
  private @Nullable Runnable giveUp;
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
      WorkerMessage message,
      Duration firstTime,
      Listener listener) {
    var call = new UpstreamCall(context, listener);
    call.timer =
        context
            .owner()
            .setTimer(
                Math.max(1, firstTime.toMillis()),
                _ -> call.fail(LegFailure.STALLED, "no answer from " + worker.name()));
    var local = upstream.local(worker);
    if (local == null) call.connect(upstream, worker, message);
    else call.sendLocal(local, message);
    return call;
  }

  private void connect(Upstream upstream, Worker worker, WorkerMessage message) {
    try {
      var sent = upstream.send(context, worker, message, listener(worker));
      giveUp = sent::cancel;
    } catch (IllegalArgumentException e) {
      var why = "worker " + worker.name() + " cannot be asked: " + e.getMessage();
      context.runOnContext(_ -> fail(LegFailure.UNREACHABLE, why));
    }
  }

  private ClientCall.Listener listener(Worker worker) {
    return new ClientCall.Listener() {
      @Override
      public void answered(ClientAnswer answer) {
        UpstreamCall.this.answered(WorkerAnswer.of(answer, UpstreamCall.this::giveUp));
      }

      @Override
      public void unreachable(String why) {
        fail(LegFailure.UNREACHABLE, "worker " + worker.name() + " cannot be reached: " + why);
      }

      @Override
      public void broke(String why) {
        fail(LegFailure.CUT, "the worker broke off: " + why);
      }
    };
  }

  /** Sends later, as over a connection: no sender is answered before it has sent. */
  private void sendLocal(LocalWorker local, WorkerMessage message) {
    var answer =
        new LocalAnswer(context, message, this::answered, why -> fail(LegFailure.CUT, why));
    giveUp = answer::giveUp;
    context.runOnContext(
        _ -> {
          if (cancelled || local.accept(message, answer)) return;
          fail(LegFailure.UNREACHABLE, "worker " + local.name() + " is stopped");
        });
  }

  /** Gives the call up, wherever it is; nothing more is heard of it. */
  public void cancel() {
    if (cancelled) return;
    cancelled = true;
    settle();
    giveUp();
  }

  private void giveUp() {
    if (giveUp != null) giveUp.run();
  }

  private void answered(WorkerAnswer answer) {
    if (settle()) listener.answered(answer);
  }

  private void fail(LegFailure failure, String why) {
    if (!settle()) return;
    cancel();
    listener.failed(failure, why);
  }

  /** Settles the call, and returns whether nothing was heard before. */
  private boolean settle() {
    if (settled) return false;
    settled = true;
    context.owner().cancelTimer(timer);
    return true;
  }
}
