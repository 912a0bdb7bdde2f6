package dev.kvasir.tiers.s3;

import static dev.kvasir.tiers.shared.SharedShelf.keys;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Seeds;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.offload.store.GuardedStore;
import dev.kvasir.tiers.host.Quiet;
import dev.kvasir.tiers.shared.HttpProxy;
import dev.kvasir.tiers.shared.HttpProxy.Fault;
import dev.kvasir.tiers.shared.SharedShelf;
import dev.kvasir.tiers.shared.SharedShelf.Tally;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A bucket that fails, stalls, lies and dies: it costs time, never a byte. */
@Tag("all")
class ObjectFaultTest {
  private static final int BLOCKS = 32;
  private static final int FAILURES_MAX = 5;
  private static final Duration PAUSE = Duration.ofMillis(100);
  private static final List<Fault> DEAD =
      List.of(Fault.ERROR_500, Fault.ERROR_503, Fault.LOST_ANSWER, Fault.STALL, Fault.RESET);

  /** Those that let the server do its work, or answer at once. */
  private static final List<Fault> PASSING =
      List.of(
          Fault.ERROR_500,
          Fault.ERROR_503,
          Fault.LOST_ANSWER,
          Fault.NOT_FOUND,
          Fault.SHORT_BODY,
          Fault.WRONG_BODY,
          Fault.CUT,
          Fault.RESET);

  private static final Tally NOTHING = new Tally(0, 0, 0);

  @TempDir static Path temp;
  private static S3Server server;

  @BeforeAll
  static void start() throws IOException {
    Quiet.please();
    server = S3Server.start(temp);
  }

  @AfterAll
  static void stop() {
    if (server != null) server.close();
  }

  private static SharedShelf shelf(HttpProxy proxy) {
    return shelf(proxy, Duration.ofSeconds(2));
  }

  private static SharedShelf shelf(HttpProxy proxy, Duration claimTtl) {
    var settings = ObjectStoreTest.settings(proxy.endpoint());
    return ObjectStoreTest.shelf(settings.withClaimTtl(claimTtl));
  }

  private static GuardedStore guard(SharedShelf shelf) {
    var guarded =
        new GuardedStore(
            shelf.caller.loop, shelf.store, FAILURES_MAX, PAUSE, Duration.ofSeconds(10));
    shelf.called = guarded;
    return guarded;
  }

  @Test
  void whateverTheServerDoesNoWrongByteIsServedAndTheBreakerOpensAndCloses() throws Exception {
    var seen = new EnumMap<Fault, Tally>(Fault.class);
    int rounds = 7 * Seeds.scale();
    try (var proxy = new HttpProxy(server.port);
        var shelf = shelf(proxy)) {
      var guarded = guard(shelf);
      // The first answers of a cold server may come later than a call waits.
      recover(shelf);
      long calm = proxy.requests();
      var all = keys(0, BLOCKS);
      for (int round = 0; round < rounds; round++) visit(shelf, new ArrayList<>(all), round);
      calm = proxy.requests() - calm;
      for (var fault : Fault.values()) {
        long opened = guarded.trips();
        long before = proxy.requests();
        proxy.plan((_, _) -> fault);
        var outcomes = new ArrayList<CopyOutcome>();
        var believed = new ArrayList<>(all);
        int first = rounds * (1 + seen.size());
        for (int round = 0; round < rounds; round++) {
          outcomes.addAll(visit(shelf, believed, first + round));
        }
        seen.put(fault, Tally.of(outcomes));
        assertThat(proxy.requests() - before).as("%s", fault).isLessThanOrEqualTo(calm * 6 / 5);
        if (DEAD.contains(fault)) {
          assertThat(guarded.trips()).as("%s", fault).isGreaterThan(opened);
        }
        proxy.plan((_, _) -> Fault.NONE);
        recover(shelf);
      }
    }
    System.out.println("faults before a bucket: " + seen);
    assertTold(seen, rounds);
  }

  /** Without a fault all is copied, by a dead server nothing, and each fault is noticed. */
  private static void assertTold(Map<Fault, Tally> seen, int rounds) {
    assertThat(seen.getOrDefault(Fault.NONE, NOTHING).copied()).isEqualTo(rounds * (BLOCKS + 1));
    for (var fault : Fault.values()) {
      var tally = seen.getOrDefault(fault, NOTHING);
      if (DEAD.contains(fault)) assertThat(tally.copied()).as("%s", fault).isZero();
      if (fault == Fault.NONE) continue;
      assertThat(tally.damaged() + tally.failed()).as("%s", fault).isPositive();
    }
  }

  /** Loads what is believed to be there, as a pool would, and stores one that is new. */
  private static List<CopyOutcome> visit(SharedShelf shelf, List<Long> believed, int round) {
    var outcomes = new ArrayList<>(shelf.load(believed));
    for (int i = believed.size() - 1; i >= 0; i--) {
      if (outcomes.get(i) instanceof CopyOutcome.Damaged) believed.remove(i);
    }
    outcomes.addAll(shelf.store(keys(1000 + round, 1001 + round)));
    return outcomes;
  }

  /** Stores what is missing and loads until all is well again. */
  private static void recover(SharedShelf shelf) {
    long end = System.nanoTime() + Duration.ofSeconds(10).toNanos();
    while (Tally.of(shelf.load(keys(0, BLOCKS))).copied() < BLOCKS) {
      shelf.store(keys(0, BLOCKS));
      assertThat(System.nanoTime()).isLessThan(end);
    }
  }

  @Test
  void aServerThatFailsNowAndThenServesNoWrongByteAndLosesNothingForGood() throws Exception {
    Seeds.each(
        Seeds.scale(),
        random -> {
          // None of these faults is a stall, so a batch that takes long is one on a busy machine.
          var patient = Duration.ofSeconds(20);
          try (var proxy = new HttpProxy(server.port);
              var shelf = shelf(proxy, patient)) {
            proxy.plan(
                (_, _) -> {
                  synchronized (random) {
                    return random.nextInt(5) == 0
                        ? PASSING.get(random.nextInt(PASSING.size()))
                        : Fault.NONE;
                  }
                });
            long first = 10_000 + random.nextLong(1L << 40);
            for (int round = 0; round < 10; round++) {
              shelf.store(keys(first, first + 16));
              shelf.load(keys(first, first + 16));
            }
            proxy.plan((_, _) -> Fault.NONE);
            long end = System.nanoTime() + Duration.ofSeconds(10).toNanos();
            while (Tally.of(shelf.load(keys(first, first + 16))).copied() < 16) {
              shelf.store(keys(first, first + 16));
              assertThat(System.nanoTime()).isLessThan(end);
            }
          } catch (IOException e) {
            throw new AssertionError(e);
          }
        });
  }

  @Test
  void aServerThatDiesIsLeftAloneAndUsedAgainWhenItIsBack() throws Exception {
    try (var proxy = new HttpProxy(server.port);
        var shelf = shelf(proxy)) {
      var direct = ObjectStoreTest.settings(server.endpoint());
      try (var own = ObjectStoreTest.shelf(direct.withClaimTtl(Duration.ofSeconds(2)))) {
        var guarded = guard(own);
        own.assertStores(keys(5000, 5008));
        server.kill();
        for (int i = 0; i < FAILURES_MAX; i++) {
          assertThat(Tally.of(own.load(keys(5000, 5008)))).isEqualTo(new Tally(0, 0, 8));
        }
        assertThat(guarded.isTripped()).isTrue();
        server.restart();
        long end = System.nanoTime() + Duration.ofSeconds(10).toNanos();
        while (Tally.of(own.load(keys(5000, 5008))).copied() < 8) {
          assertThat(System.nanoTime()).isLessThan(end);
        }
        assertThat(guarded.isTripped()).isFalse();
      }
      shelf.assertLoads(keys(5000, 5008));
    }
  }
}
