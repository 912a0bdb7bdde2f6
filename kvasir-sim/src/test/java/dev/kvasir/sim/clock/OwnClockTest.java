package dev.kvasir.sim.clock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Seeds;
import dev.kvasir.time.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class OwnClockTest {
  private static final int INSTANCES = 3;
  private static final int COMMANDS = 20;
  private static final int EVENTS_MAX = 400;

  @Test
  void instancesTellTheSameAtTheSameTimeAsThoseOnTheClockOfTheCluster() {
    Seeds.each(
        50 * Seeds.scale(),
        random -> {
          long seed = random.nextLong();
          assertThat(runApart(seed, RouterVisibility.LOOKING)).isEqualTo(runTogether(seed));
        });
  }

  @Test
  void instancesThatMayBeBehindDoTheSameAtTheSameTime() {
    Seeds.each(
        50 * Seeds.scale(),
        random -> {
          long seed = random.nextLong();
          assertThat(inOrder(runApart(seed, RouterVisibility.BLIND)))
              .isEqualTo(inOrder(runTogether(seed)));
        });
  }

  private static List<String> runTogether(long seed) {
    var cluster = new VirtualLoop();
    var clocks = new ArrayList<InstanceClock>();
    for (int i = 0; i < INSTANCES; i++) clocks.add(new InstanceClock.Shared(cluster.lane(1 + i)));
    var script = new Script(cluster, clocks, new Random(seed));
    cluster.run(Long.MAX_VALUE);
    return script.log;
  }

  private static List<String> runApart(long seed, RouterVisibility visibility) {
    var cluster = new VirtualLoop();
    var clocks = new ArrayList<OwnClock>();
    for (int i = 0; i < INSTANCES; i++) clocks.add(new OwnClock(cluster.lane(1 + i), visibility));
    var script = new Script(cluster, clocks, new Random(seed));
    var sideBySide = new SideBySide(cluster, clocks, List.of(), ParallelTasks.ALONE, visibility);
    while (sideBySide.nextNanos() < Long.MAX_VALUE) sideBySide.advance(Long.MAX_VALUE);
    return script.log;
  }

  private static List<String> inOrder(List<String> log) {
    return log.stream().map(each -> each.substring(each.indexOf(':'))).sorted().toList();
  }

  /** The cluster asks instances for many things, and hears of each when it is done. */
  private static final class Script {
    final List<String> log = new ArrayList<>();
    private final VirtualLoop cluster;

    Script(VirtualLoop cluster, List<? extends InstanceClock> clocks, RandomGenerator random) {
      this.cluster = cluster;
      for (int i = 0; i < COMMANDS; i++) {
        int number = i;
        var clock = clocks.get(random.nextInt(INSTANCES));
        var delays = random.ints(random.nextInt(EVENTS_MAX), 0, 20).toArray();
        cluster.after(
            Duration.ofNanos(100L * random.nextInt(20)),
            () -> clock.runInInstance(() -> go(clock, number, delays, 0)));
      }
    }

    private void go(InstanceClock clock, int number, int[] delays, int done) {
      long nanos = clock.nanos();
      clock.runInCluster(
          () -> log.add(cluster.nanos() + ": " + number + " did " + done + " at " + nanos));
      if (done == delays.length) return;
      clock.loop().after(Duration.ofNanos(delays[done]), () -> go(clock, number, delays, done + 1));
    }
  }
}
