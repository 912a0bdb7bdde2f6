package dev.kvasir.sim.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Seeds;
import dev.kvasir.router.view.Role;
import dev.kvasir.sim.Clusters;
import dev.kvasir.sim.Simulator;
import dev.kvasir.sim.latency.LinearModel;
import dev.kvasir.sim.workload.Content;
import dev.kvasir.sim.workload.Request;
import dev.kvasir.sim.workload.Workload;
import dev.kvasir.time.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ClusterNetworkTest {
  private final VirtualLoop loop = new VirtualLoop();
  private final ClusterNetwork network = new ClusterNetwork(loop, 4, 1);
  private final List<String> ended = new ArrayList<>();

  @Test
  void transfersBetweenDifferentInstancesDoNotSlowEachOther() {
    carry(0, 1, 100, "first");
    carry(2, 3, 100, "second");
    loop.run(10);
    assertThat(ended).containsExactly("first 100", "second 100");
  }

  @Test
  void whatOneInstanceSendsOrReceivesSharesItsPort() {
    carry(0, 1, 100, "to one");
    carry(0, 2, 100, "to two");
    carry(1, 0, 100, "back");
    loop.run(10);
    assertThat(ended).containsExactly("back 100", "to one 200", "to two 200");
    ended.clear();
    carry(1, 0, 50, "from one");
    carry(2, 0, 100, "from two");
    loop.run(10);
    assertThat(ended).containsExactly("from one 300", "from two 350");
  }

  @Test
  void everyTransferEndsAndNoneSoonerThanItsBytesTakeAlone() {
    Seeds.each(
        50 * Seeds.scale(),
        random -> {
          var clock = new VirtualLoop();
          var ports = new ClusterNetwork(clock, 5, 0.5);
          var late = new ArrayList<Long>();
          int count = 1 + random.nextInt(30);
          for (int i = 0; i < count; i++) {
            long start = random.nextInt(1_000_000);
            int tokens = 1 + random.nextInt(500);
            int from = random.nextInt(5);
            int to = (from + 1 + random.nextInt(4)) % 5;
            clock.after(
                Duration.ofNanos(start),
                () ->
                    ports.carry(
                        from, to, tokens, () -> late.add(clock.nanos() - start - 2000L * tokens)));
          }
          clock.run(10_000);
          assertThat(late).hasSize(count).allMatch(nanos -> nanos >= 0);
        });
  }

  /** Two pairs at once take as long as one: 4,096 tokens at 10 a microsecond, and no more. */
  @Test
  void twoPairsOfInstancesHandOverAtOnce() {
    var model = LinearModel.of(List.of(0.0, 0.0, 0.0), List.of(50.0, 2.0, 1.0));
    var instance = Clusters.alone(Clusters.engine(4, 8192), 4096, 4);
    var roles = List.of(Role.PREFILL, Role.PREFILL, Role.DECODE, Role.DECODE);
    var spec = Clusters.of(roles, instance, "round-robin", "always");
    var requests =
        List.of(
            Request.of("one", 0, 4096, 3, Content.unique(1)),
            Request.of("two", 0, 4096, 3, Content.unique(2)));
    var run = new Simulator(spec, model, Workload.open(requests.iterator())).run(_ -> {});
    long alone = 50 + 2L * 4096 + 50 + Math.ceilDiv(4096, 10) + 50 + 2;
    assertThat(run.requests())
        .allSatisfy(each -> assertThat(each.ttftMicros()).isBetween(alone - 1, alone + 1));
  }

  private void carry(int from, int to, int tokens, String name) {
    network.carry(from, to, tokens, () -> ended.add(name + " " + loop.nanos() / 1000));
  }
}
