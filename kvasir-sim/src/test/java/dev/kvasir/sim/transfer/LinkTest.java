package dev.kvasir.sim.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Seeds;
import dev.kvasir.time.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class LinkTest {
  private record Transfer(long startNanos, int tokens) {}

  @Test
  void aTransferAloneHasTheWholeLink() {
    var loop = new VirtualLoop();
    var link = new Link(loop, 4);
    var ended = new ArrayList<Long>();
    link.carry(1000, () -> ended.add(loop.nanos()));
    loop.run(10);
    assertThat(ended).containsExactly(250_000L);
    assertThat(link.busyNanos()).isEqualTo(250_000);
    assertThat(link.carried()).isEqualTo(1000);
  }

  @Test
  void twoTransfersShareEquallyAndTheLateOneTakesOnlyItsShare() {
    var loop = new VirtualLoop();
    var link = new Link(loop, 1);
    var ended = new ArrayList<String>();
    link.carry(100, () -> ended.add("first " + loop.nanos() / 1000));
    loop.after(
        Duration.ofNanos(50_000),
        () -> link.carry(25, () -> ended.add("late " + loop.nanos() / 1000)));
    loop.run(10);
    // The first is halfway when the other comes; both share until that one has its 25 tokens.
    assertThat(ended).containsExactly("late 100", "first 125");
  }

  @Test
  void everyTransferEndsWhenEqualSharesSaySo() {
    Seeds.each(
        50 * Seeds.scale(),
        random -> {
          double tokensPerMicro = 0.1 + 10 * random.nextDouble();
          var transfers = transfers(random);
          var expected = shared(transfers, tokensPerMicro / 1000);
          var actual = carried(transfers, tokensPerMicro);
          for (int i = 0; i < transfers.size(); i++) {
            // The clock has whole nanoseconds, and each end before may have been rounded up.
            assertThat((double) actual[i])
                .as("transfer " + i + " of " + transfers)
                .isBetween(expected[i] - transfers.size(), expected[i] + transfers.size() + 1);
          }
        });
  }

  private static List<Transfer> transfers(RandomGenerator random) {
    var transfers = new ArrayList<Transfer>();
    for (int i = 1 + random.nextInt(20); i > 0; i--) {
      transfers.add(new Transfer(random.nextInt(2_000_000), 1 + random.nextInt(3000)));
    }
    transfers.sort(Comparator.comparingLong(Transfer::startNanos));
    return transfers;
  }

  private static long[] carried(List<Transfer> transfers, double tokensPerMicro) {
    var loop = new VirtualLoop();
    var link = new Link(loop, tokensPerMicro);
    var ends = new long[transfers.size()];
    for (int i = 0; i < ends.length; i++) {
      int index = i;
      var transfer = transfers.get(i);
      loop.after(
          Duration.ofNanos(transfer.startNanos()),
          () -> link.carry(transfer.tokens(), () -> ends[index] = loop.nanos()));
    }
    loop.run(10_000);
    return ends;
  }

  /** All that is under way goes on at the same rate, from each start and end to the next. */
  private static double[] shared(List<Transfer> transfers, double tokensPerNano) {
    var left = new double[transfers.size()];
    var ends = new double[transfers.size()];
    var open = new ArrayList<Integer>();
    double now = 0;
    for (int started = 0; started < left.length || !open.isEmpty(); ) {
      double next = started < left.length ? transfers.get(started).startNanos() : Double.MAX_VALUE;
      open.sort(Comparator.comparingDouble(i -> left[i]));
      double shortest = open.isEmpty() ? Double.MAX_VALUE : left[open.getFirst()];
      double end = now + shortest * open.size() / tokensPerNano;
      double until = open.isEmpty() ? next : Math.min(next, end);
      for (int i : open) left[i] -= (until - now) * tokensPerNano / open.size();
      now = until;
      if (!open.isEmpty() && end <= next) {
        ends[open.removeFirst()] = now;
      } else {
        left[started] = transfers.get(started).tokens();
        open.add(started++);
      }
    }
    return ends;
  }
}
