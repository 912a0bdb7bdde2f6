package dev.kvasir.embedded.step;

import dev.kvasir.time.EventLoop;
import dev.kvasir.time.Timer;
import java.time.Duration;
import java.util.function.Consumer;

/** The loop of one engine: it reports whatever a task of that engine throws. */
public record WatchedLoop(EventLoop loop, Consumer<Throwable> failed) implements EventLoop {
  @Override
  public long nanos() {
    return loop.nanos();
  }

  @Override
  public void execute(Runnable task) {
    loop.execute(() -> run(task));
  }

  @Override
  public Timer after(Duration delay, Runnable task) {
    return loop.after(delay, () -> run(task));
  }

  /** Runs it now, on the loop. */
  void run(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException | Error failure) {
      failed.accept(failure);
    }
  }
}
