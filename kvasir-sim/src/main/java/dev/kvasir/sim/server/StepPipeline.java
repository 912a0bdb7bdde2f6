package dev.kvasir.sim.server;

import dev.kvasir.sim.latency.StepShape;
import dev.kvasir.time.EventLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Steps as an engine runs them that schedules ahead: while the GPU computes a step, the processor
 * launches the next, and only then looks at what the first one gave.
 *
 * <pre>
 *   launch k   begins when launch k-1 is over and the outputs of k-2 are seen
 *   step k     begins on the GPU when step k-1 is over, and ends no sooner than its launch
 *   outputs k  are seen when launch k+1 is over; with nothing more to do, when step k is over
 * </pre>
 */
public final class StepPipeline {
  private final EventLoop loop;
  private final ServerModel model;
  private final FrontStage front;

  /** Tasks that wait for the tokens of the last step. */
  private List<Runnable> waiting = new ArrayList<>();

  private SentListener sent = (_, _) -> {};
  private boolean launching;
  private boolean unseen;
  private boolean idle;
  private int tokens;
  private long deviceEndNanos;
  private long unseenEndNanos;

  /** Hears of each step when it is known at what time its tokens leave the server. */
  @FunctionalInterface
  public interface SentListener {
    /**
     * The tokens of the oldest step that was not sent are.
     *
     * @param nanos when they have left
     * @param eachNanos how much later each of those leaves that somebody waits for
     */
    void sent(long nanos, long eachNanos);
  }

  public StepPipeline(EventLoop loop, ServerModel model, FrontStage front) {
    this.loop = loop;
    this.model = model;
    this.front = front;
  }

  /** Runs a step; {@code done} is called when the next one can be launched. */
  public long run(StepShape shape, Runnable done) {
    long now = loop.nanos();
    // With nothing to launch the process waited for the last step, whatever came meanwhile.
    long start = idle ? Math.max(now, unseenEndNanos) : now;
    long launched = start + model.launchNanos(shape, front.entered());
    long end = Math.max(launched, Math.max(start, deviceEndNanos) + model.deviceNanos(shape));
    long next = unseen && !idle ? Math.max(launched, unseenEndNanos) : launched;
    deviceEndNanos = end;
    launching = true;
    loop.after(Duration.ofNanos(next - now), () -> launched(shape.requests(), end, done));
    return next - now;
  }

  private void launched(int rows, long endNanos, Runnable done) {
    if (unseen) see();
    launching = false;
    idle = false;
    unseen = true;
    unseenEndNanos = endNanos;
    tokens = rows;
    done.run();
    if (launching) return;
    idle = true;
    long left = Math.max(0, endNanos - loop.nanos());
    loop.after(Duration.ofNanos(left), () -> seeLast(endNanos));
  }

  /** Nothing followed the step that ends now; if something did, it waited for this. */
  private void seeLast(long endNanos) {
    if (unseen && unseenEndNanos == endNanos) see();
  }

  private void see() {
    unseen = false;
    var those = waiting;
    waiting = new ArrayList<>();
    sent.sent(front.send(tokens, those), front.eachNanos());
  }

  /** Sets the listener that is called when tokens leave. */
  public void setSentListener(SentListener listener) {
    sent = listener;
  }

  /** Has somebody told of a token of the step that is done now, when it is through. */
  public void whenSent(Runnable task) {
    waiting.add(task);
  }
}
