package dev.kvasir.router;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Seeds;
import dev.kvasir.kv.event.KvEvent;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.router.index.IndexSettings;
import dev.kvasir.router.pick.PickPolicy;
import dev.kvasir.router.pick.Ties;
import dev.kvasir.router.pick.WeightedPick;
import dev.kvasir.router.placement.PlacementPolicy;
import dev.kvasir.router.placement.PlacementSettings;
import dev.kvasir.router.placement.PrefillPlacement.Offload;
import dev.kvasir.router.view.Availability;
import dev.kvasir.router.view.EngineSignals;
import dev.kvasir.router.view.Instance;
import dev.kvasir.router.view.Load;
import dev.kvasir.router.view.Role;
import dev.kvasir.router.view.RouteRequest;
import dev.kvasir.router.view.Views;
import dev.kvasir.time.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/** INV-8 under every policy, with instances that come and go and requests that fail anywhere. */
class RouterLoadTest {
  @Test
  void loadIsZeroWhenAllHasEndedAndRoutesGoOnlyToPresentInstances() {
    Seeds.each(
        60 * Seeds.scale(),
        random -> {
          for (var placement : PlacementPolicy.NAMES) {
            for (var pick : PickPolicy.NAMES) new Walk(random, pick, placement).run();
          }
        });
  }

  private static final class Walk {
    private final VirtualLoop loop = new VirtualLoop();
    private final RandomGenerator random;
    private final Router router;
    private final List<Route> open = new ArrayList<>();

    Walk(RandomGenerator random, String pick, String placement) {
      this.random = random;
      var index = new IndexSettings(300, 100, Duration.ofSeconds(5), 8);
      this.router =
          new Router(
              loop,
              RouterSettings.DEFAULT.withIndex(index),
              PickPolicy.named(pick, WeightedPick.SCORERS_DEFAULT, Ties.random(random)),
              PlacementPolicy.named(placement, PlacementSettings.DEFAULT));
    }

    void run() {
      for (int step = 0; step < 200; step++) {
        loop.runFor(Duration.ofMillis(random.nextInt(400)));
        switch (random.nextInt(8)) {
          case 0 -> fleet();
          case 1, 2, 3 -> open();
          case 4 -> event();
          default -> advance();
        }
      }
      open.forEach(Route::close);
      for (int id : router.instances()) {
        var load = router.load(id);
        // What the engine told may still be fresh; the books themselves are empty.
        assertThat(load.inFlight() + load.prefills() + load.placements()).isZero();
        assertThat(load.contextTokens()).isZero();
      }
      loop.runFor(Duration.ofMinutes(2));
      for (int id : router.instances()) assertThat(router.load(id)).isEqualTo(Load.NONE);
    }

    private void fleet() {
      var ids = router.instances();
      if (ids.size() < 6 && random.nextBoolean()) {
        var role = random.nextInt(4) == 0 ? Role.PREFILL : Role.BOTH;
        router.add(new Instance("worker", role, "any", 1 + random.nextInt(50)));
      } else if (!ids.isEmpty()) {
        int id = ids.get(random.nextInt(ids.size()));
        switch (random.nextInt(4)) {
          case 0 -> router.remove(id);
          case 1 -> router.become(id, Availability.DOWN);
          case 2 ->
              router.updateSignals(id, EngineSignals.of(random.nextInt(9), random.nextInt(9), 0.5));
          default -> router.become(id, Availability.READY);
        }
      }
    }

    private void event() {
      int id = random.nextInt(10);
      var hash = Views.hash(random.nextInt(100));
      var stored = new KvEvent.Stored(Tier.DEVICE, TokenBlock.named(hash, null, 0));
      assertThat(router.on(id, List.of(stored))).isEqualTo(router.instances().contains(id));
    }

    private void open() {
      int blocks = random.nextInt(60);
      var prefix = Views.hashes(random.nextInt(40), blocks);
      int prompt = random.nextInt(5) == 0 ? 60_000 : blocks * 16 + random.nextInt(16);
      var request = RouteRequest.of("session-" + random.nextInt(9), prompt, prefix);
      var ready = router.instances().stream().filter(this::isReady).toList();
      var route = router.open(request);
      if (route.isEmpty()) return;
      var placement = route.get().placement();
      assertThat(ready).contains(placement.decode());
      if (placement instanceof Offload offload) assertThat(ready).contains(offload.prefill());
      assertThat(placement.reason()).isNotNull();
      open.add(route.get());
    }

    private boolean isReady(int id) {
      return router.availability(id) == Availability.READY;
    }

    private void advance() {
      if (open.isEmpty()) return;
      int at = random.nextInt(open.size());
      var route = open.get(at);
      var times = route.written().times();
      boolean elsewhere = route.placement() instanceof Offload;
      boolean decoding = times.firstToken() != RouteTimes.NEVER;
      switch (random.nextInt(5)) {
        case 0 -> {
          route.close();
          route.close();
          open.remove(at);
        }
        case 1 -> {
          if (elsewhere && !decoding) route.prefillFailed();
        }
        case 2 -> {
          boolean done = times.prefillDone() != RouteTimes.NEVER;
          if (elsewhere && !decoding && !done) route.prefillDone();
        }
        case 3 -> {
          if (!decoding) route.firstToken();
        }
        default -> {
          if (decoding) route.emitted(random.nextInt(20));
        }
      }
    }
  }
}
