package dev.kvasir.sim.transfer;

import dev.kvasir.Nullable;
import dev.kvasir.time.EventLoop;
import dev.kvasir.time.Timer;
import java.time.Duration;
import java.util.Comparator;
import java.util.PriorityQueue;

/**
 * A link whose bandwidth all transfers under way share equally.
 *
 * <p>One number, how much each transfer has been served since the beginning, tells for all of them
 * how far they are; a transfer is over when that number has grown by its size.
 */
final class Link {
  private static final double NANOS_PER_MICRO = 1000;

  private record Load(double end, long order, Runnable done) {}

  private final EventLoop loop;
  private final double tokensPerNano;
  private final PriorityQueue<Load> loads =
      new PriorityQueue<>(Comparator.comparingDouble(Load::end).thenComparingLong(Load::order));
  private double served;
  private long lastNanos;
  private long order;
  private long busyNanos;
  private double carried;
  private @Nullable Timer next;

  Link(EventLoop loop, double tokensPerMicro) {
    if (!(tokensPerMicro > 0)) {
      throw new IllegalArgumentException("a link of " + tokensPerMicro + " tokens a microsecond");
    }
    this.loop = loop;
    this.tokensPerNano = tokensPerMicro / NANOS_PER_MICRO;
  }

  /** Carries the KV of that many tokens, and then runs the task. */
  void carry(long tokens, Runnable done) {
    settle();
    loads.add(new Load(served + tokens, order++, done));
    carried += tokens;
    arrange();
  }

  /** Returns how long anything was under way. */
  long busyNanos() {
    settle();
    return busyNanos;
  }

  /** Tokens whose KV was carried, or is. */
  double carried() {
    return carried;
  }

  private void settle() {
    long now = loop.nanos();
    if (!loads.isEmpty()) {
      served += (now - lastNanos) * tokensPerNano / loads.size();
      busyNanos += now - lastNanos;
    }
    lastNanos = now;
  }

  private void arrange() {
    if (next != null) next.cancel();
    next = null;
    var first = loads.peek();
    if (first == null) return;
    double left = Math.max(0, first.end - served) * loads.size() / tokensPerNano;
    next = loop.after(Duration.ofNanos((long) StrictMath.ceil(left)), this::finish);
  }

  private void finish() {
    next = null;
    settle();
    var first = loads.poll();
    if (first == null) throw new IllegalStateException("a transfer ended that never began");
    // The clock has whole nanoseconds: whoever is over, is over exactly.
    served = Math.max(served, first.end);
    arrange();
    first.done.run();
  }
}
