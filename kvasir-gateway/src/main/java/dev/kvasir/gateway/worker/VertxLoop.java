package dev.kvasir.gateway.worker;

import dev.kvasir.time.EventLoop;
import dev.kvasir.time.Timer;
import io.vertx.core.Context;
import java.time.Duration;

/** The loop of a connection, as one that runs tasks later. */
record VertxLoop(Context context) implements EventLoop {
  @Override
  public long nanos() {
    return System.nanoTime();
  }

  @Override
  public void execute(Runnable task) {
    context.runOnContext(_ -> task.run());
  }

  @Override
  public Timer after(Duration delay, Runnable task) {
    var vertx = context.owner();
    long timer = vertx.setTimer(Math.max(1, delay.toMillis()), _ -> execute(task));
    return () -> vertx.cancelTimer(timer);
  }
}
