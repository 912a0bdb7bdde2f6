package dev.kvasir.sim.transfer;

import dev.kvasir.Nullable;
import dev.kvasir.time.EventLoop;
import dev.kvasir.time.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The network between instances: each has a port of its own, as fast one way as the other.
 *
 * <p>Whatever an instance sends at once shares its port equally, and so does whatever it receives;
 * a transfer goes on at the smaller of its two shares. Transfers between other instances do not
 * slow it down: what connects the ports is taken to be fast enough for all of them.
 */
public final class ClusterNetwork {
  private static final double NANOS_PER_MICRO = 1000;

  /** Remainder below which a transfer is over: rounding, not data. */
  private static final double NOTHING = 1e-6;

  private final EventLoop loop;
  private final double tokensPerNano;
  private final int[] sending;
  private final int[] receiving;
  private final List<Transfer> transfers = new ArrayList<>();
  private long lastNanos;
  private @Nullable Timer next;

  private static final class Transfer {
    final int from;
    final int to;
    final Runnable done;
    double left;

    Transfer(int from, int to, double left, Runnable done) {
      this.from = from;
      this.to = to;
      this.left = left;
      this.done = done;
    }
  }

  public ClusterNetwork(EventLoop loop, int instances, double tokensPerMicro) {
    if (!(tokensPerMicro > 0)) {
      throw new IllegalArgumentException("a port of " + tokensPerMicro + " tokens a microsecond");
    }
    this.loop = loop;
    this.tokensPerNano = tokensPerMicro / NANOS_PER_MICRO;
    this.sending = new int[instances];
    this.receiving = new int[instances];
  }

  /** Carries the KV of that many tokens from one instance to another, and then runs the task. */
  public void carry(int from, int to, long tokens, Runnable done) {
    settle();
    transfers.add(new Transfer(from, to, tokens, done));
    sending[from]++;
    receiving[to]++;
    arrange();
  }

  private double rate(Transfer transfer) {
    return tokensPerNano / Math.max(sending[transfer.from], receiving[transfer.to]);
  }

  private void settle() {
    long now = loop.nanos();
    for (var each : transfers) each.left -= (now - lastNanos) * rate(each);
    lastNanos = now;
  }

  private void arrange() {
    if (next != null) next.cancel();
    next = null;
    if (transfers.isEmpty()) return;
    double soonest = Double.POSITIVE_INFINITY;
    for (var each : transfers) soonest = Math.min(soonest, Math.max(0, each.left) / rate(each));
    next = loop.after(Duration.ofNanos((long) StrictMath.ceil(soonest)), this::finish);
  }

  /** Ends all that have arrived, in the order in which they were sent. */
  private void finish() {
    next = null;
    settle();
    var over = new ArrayList<Transfer>();
    for (var each : transfers) if (each.left <= NOTHING) over.add(each);
    transfers.removeAll(over);
    for (var each : over) {
      sending[each.from]--;
      receiving[each.to]--;
    }
    arrange();
    for (var each : over) each.done.run();
  }
}
