package dev.kvasir.router;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.router.pick.PickPolicy;
import dev.kvasir.router.pick.Ties;
import dev.kvasir.router.placement.PlacementPolicy;
import dev.kvasir.router.placement.PlacementSettings;
import dev.kvasir.router.view.BookedLoad;
import dev.kvasir.router.view.EngineSignals;
import dev.kvasir.router.view.Instance;
import dev.kvasir.router.view.RouteRequest;
import dev.kvasir.time.VirtualLoop;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Counts the requests that a router takes an engine to have, and follows the next one. */
class LeastLoadedTest {
  private static final int ENGINES = 4;
  private static final double LOAD = 0.8;
  private static final double SERVICE_NANOS = 10e6;
  private static final int REQUESTS = 200_000;

  private final VirtualLoop loop = new VirtualLoop();
  private final Router router =
      new Router(
          loop,
          RouterSettings.DEFAULT,
          PickPolicy.named("least-loaded", "", Ties.inTurn()),
          PlacementPolicy.named("never", PlacementSettings.DEFAULT));

  /** Arrivals and times of service, the same for both. */
  private final long[] arrivals = new long[REQUESTS];

  private final long[] services = new long[REQUESTS];

  LeastLoadedTest() {
    var random = new SplittableRandom(3);
    double at = 0;
    for (int i = 0; i < REQUESTS; i++) {
      at += exponential(random, SERVICE_NANOS / ENGINES / LOAD);
      arrivals[i] = (long) at;
      services[i] = (long) exponential(random, SERVICE_NANOS);
    }
  }

  private static double exponential(SplittableRandom random, double mean) {
    return -mean * Math.log(1 - random.nextDouble());
  }

  /** The mean time in the system, where each joins the shortest queue. */
  private double shortestQueue() {
    var ends = new ArrayList<ArrayDeque<Long>>();
    for (int i = 0; i < ENGINES; i++) ends.add(new ArrayDeque<>());
    double sum = 0;
    int turn = 0;
    for (int i = 0; i < REQUESTS; i++) {
      int best = -1;
      for (int each = 0; each < ENGINES; each++) {
        int at = (each + turn) % ENGINES;
        var queue = ends.get(at);
        while (!queue.isEmpty() && queue.getFirst() <= arrivals[i]) queue.removeFirst();
        if (best < 0 || queue.size() < ends.get(best).size()) best = at;
      }
      turn++;
      var shortest = ends.get(best);
      long begin = shortest.isEmpty() ? arrivals[i] : shortest.getLast();
      shortest.addLast(begin + services[i]);
      sum += begin + services[i] - arrivals[i];
    }
    return sum / REQUESTS;
  }

  /** An engine that serves one request after the other, and reports now and then. */
  private final class Server {
    private final int id = router.add(Instance.of("server"));
    private final Deque<Integer> queue = new ArrayDeque<>();

    private void report(Duration pace) {
      router.updateSignals(
          id, EngineSignals.of(Math.max(0, queue.size() - 1), queue.isEmpty() ? 0 : 1, 0));
      loop.after(pace, () -> report(pace));
    }

    void enqueue(int number, Route route) {
      queue.add(number);
      routes[number] = route;
      if (queue.size() == 1) serve();
    }

    private void serve() {
      int number = queue.getFirst();
      loop.after(Duration.ofNanos(services[number]), () -> end(number));
    }

    private void end(int number) {
      queue.removeFirst();
      routes[number].close();
      elapsed[number] = loop.nanos() - arrivals[number];
      if (!queue.isEmpty()) serve();
    }
  }

  private final Route[] routes = new Route[REQUESTS];
  private final long[] elapsed = new long[REQUESTS];

  @Test
  void withOneGatewayEachRequestJoinsTheShortestQueue() {
    var servers = new Server[ENGINES];
    for (int i = 0; i < ENGINES; i++) {
      servers[i] = new Server();
      servers[i].report(Duration.ofSeconds(1));
    }
    arrive(servers, 0);
    loop.runFor(Duration.ofNanos(arrivals[REQUESTS - 1]).plusSeconds(10));
    double mean = Arrays.stream(elapsed).average().orElseThrow();
    double best = shortestQueue();
    System.out.printf("least-loaded %.2f ms, shortest queue %.2f ms%n", mean / 1e6, best / 1e6);
    assertThat(mean / best).isBetween(0.97, 1.03);
  }

  private void arrive(Server[] servers, int number) {
    if (number == REQUESTS) return;
    var wait = Duration.ofNanos(arrivals[number] - loop.nanos());
    loop.after(
        wait,
        () -> {
          var route = router.open(RouteRequest.of("", 12, List.of())).orElseThrow();
          servers[route.placement().decode()].enqueue(number, route);
          arrive(servers, number + 1);
        });
  }

  private int requests(int id) {
    return router.view(RouteRequest.of("", 12, List.of())).instances().get(id).requests();
  }

  private Route open() {
    return router.open(RouteRequest.of("", 12, List.of())).orElseThrow();
  }

  @Test
  void whatAnEngineReportsBesideOwnRequestsIsOfOthers() {
    int id = router.add(Instance.of("one"));
    var own = open();
    var _ = open();
    router.updateSignals(id, EngineSignals.of(2, 3, 0));
    assertThat(requests(id)).isEqualTo(5);
    // Its own are counted exactly, whatever the report says of them by now.
    own.close();
    assertThat(requests(id)).isEqualTo(4);
    var _ = open();
    var _ = open();
    assertThat(requests(id)).isEqualTo(6);
    // An old report says nothing.
    loop.runFor(RouterSettings.DEFAULT.freshness().plusMillis(1));
    assertThat(requests(id)).isEqualTo(3);
  }

  @Test
  void requestsThatEndWhileTheirReportIsOnItsWayAreNotOfOthers() {
    int id = router.add(Instance.of("one"));
    for (int i = 0; i < 4; i++) open().close();
    var first = open();
    var second = open();
    loop.runFor(Duration.ofMillis(10));
    first.close();
    second.close();
    router.updateSignals(id, EngineSignals.of(1, 1, 0));
    assertThat(requests(id)).isZero();
  }

  @Test
  void whatOtherGatewaysBookedIsNotOfOthersToo() {
    int id = router.add(Instance.of("one"));
    router.bookedElsewhere(id, new BookedLoad(3, 0, 0, 0, 3, 0, 0, 0));
    router.updateSignals(id, EngineSignals.of(1, 4, 0));
    assertThat(requests(id)).isEqualTo(5);
    router.bookedElsewhere(id, new BookedLoad(1, 0, 0, 0, 1, 0, 0, 0));
    assertThat(requests(id)).isEqualTo(3);
  }
}
