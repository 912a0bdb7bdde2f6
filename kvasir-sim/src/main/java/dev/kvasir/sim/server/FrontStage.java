package dev.kvasir.sim.server;

import dev.kvasir.time.EventLoop;
import java.time.Duration;

/**
 * The server in front of an engine: one event loop through which every prompt comes in and every
 * token goes out, first come, first served. Requests wait for it like for the engine.
 *
 * <pre>
 *   enter - receive, side by side - call - hop - call - deliver - the engine
 *                                   take          take                outputs: take
 * </pre>
 */
public final class FrontStage {
  private final EventLoop loop;
  private final ServerTimes.Front times;
  private final ServerTimes.WarmUp warmUp;
  private long freeNanos;
  private long entered;

  public FrontStage(EventLoop loop, ServerModel model) {
    this.loop = loop;
    this.times = model.times().front();
    this.warmUp = model.times().warmUp();
  }

  /** Requests that have come so far. */
  long entered() {
    return entered;
  }

  /** Takes a request in, and hands it to the engine when it is through. */
  public void enter(int promptTokens, Runnable engine) {
    double slow = warmUp.ofFront(entered++);
    double micros = times.receiveMicros() + times.receiveTokenNanos() / 1000 * promptTokens;
    after(
        loop.nanos() + ServerModel.nanos(micros * slow), () -> call(promptTokens, slow, 1, engine));
  }

  private void call(int promptTokens, double slow, int turn, Runnable engine) {
    double micros = times.callMicros() + times.callTokenMicros() * promptTokens;
    long end = take(micros * slow);
    if (turn == times.calls()) {
      after(end + ServerModel.nanos(times.deliverMicros() * slow), engine);
    } else {
      long back = end + ServerModel.nanos(times.hopMicros() * slow);
      after(back, () -> call(promptTokens, slow, turn + 1, engine));
    }
  }

  /** Sends the tokens of a step out; who waits for one of them hears of it when it is through. */
  void send(int tokens, Iterable<Runnable> waiting) {
    long end = take(times.outputMicros() * tokens);
    for (var each : waiting) {
      end = take(times.endMicros());
      after(end, each);
    }
  }

  /** The event loop's time for a piece of work that stands in line from now on. */
  private long take(double micros) {
    freeNanos = Math.max(freeNanos, loop.nanos()) + ServerModel.nanos(micros);
    return freeNanos;
  }

  private void after(long nanos, Runnable task) {
    loop.after(Duration.ofNanos(nanos - loop.nanos()), task);
  }
}
