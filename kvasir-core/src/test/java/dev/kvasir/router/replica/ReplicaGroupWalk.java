package dev.kvasir.router.replica;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Nullable;
import dev.kvasir.router.Router;
import dev.kvasir.router.RouterSettings;
import dev.kvasir.router.flow.FlowRequest;
import dev.kvasir.router.flow.FlowSettings;
import dev.kvasir.router.flow.IdleDriver;
import dev.kvasir.router.flow.RequestEnd;
import dev.kvasir.router.flow.RequestEnd.Verdict;
import dev.kvasir.router.flow.RequestFlow;
import dev.kvasir.router.limit.FlowCaller;
import dev.kvasir.router.limit.Refusal;
import dev.kvasir.router.pick.PickPolicy;
import dev.kvasir.router.pick.Ties;
import dev.kvasir.router.pick.WeightedPick;
import dev.kvasir.router.placement.PlacementPolicy;
import dev.kvasir.router.placement.PlacementSettings;
import dev.kvasir.router.view.BookedLoad;
import dev.kvasir.router.view.Instance;
import dev.kvasir.router.view.Role;
import dev.kvasir.router.view.RouteRequest;
import dev.kvasir.router.view.SloClass;
import dev.kvasir.router.worker.EjectionRules;
import dev.kvasir.router.worker.Submission;
import dev.kvasir.router.worker.WorkerEntry;
import dev.kvasir.router.worker.WorkerTable;
import dev.kvasir.time.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.random.RandomGenerator;

/**
 * Gateways in front of the same workers, on one loop: messages are late, some are lost, the channel
 * fails and comes back, gateways are killed and start anew.
 */
final class ReplicaGroupWalk {
  static final int WORKERS = 4;
  static final Duration CALM = Duration.ofSeconds(6);

  /** The channel that all are connected to. */
  final class Channel {
    Duration delay = Duration.ofMillis(1);
    double loss;
    boolean isDown;

    void publish(Gateway from, ReplicaMessage message) {
      if (from.isDead || isDown) return;
      for (var to : List.copyOf(gateways)) {
        if (random.nextDouble() < loss) continue;
        loop.after(delay, () -> deliver(to, message));
      }
    }

    private void deliver(Gateway to, ReplicaMessage message) {
      if (!to.isDead && !isDown) to.replicas.receive(message);
    }
  }

  /** One of them, which remembers what it was told of the others. */
  public final class Gateway implements Replicas.Listener {
    final String name;
    final Router router;
    final WorkerTable<String> table;
    final RequestFlow flow;
    final Replicas replicas;
    final List<KeyedRequest> underWay = new ArrayList<>();
    final List<String> received = new ArrayList<>();
    boolean isDead;

    public Gateway(String name, long epoch, List<String> terms, int expected) {
      this.name = name;
      var picks = PickPolicy.named("least-loaded", WeightedPick.SCORERS_DEFAULT, Ties.inTurn());
      var placement = PlacementPolicy.named("never", PlacementSettings.DEFAULT);
      router = new Router(loop, RouterSettings.DEFAULT, picks, placement);
      table = new WorkerTable<>(router, EjectionRules.DEFAULT, new IdleDriver.Unwatched());
      flow = new RequestFlow(loop, router, table, FlowSettings.OPEN);
      for (int i = 0; i < WORKERS; i++) {
        var worker = new Instance("w" + i, Role.BOTH, "m", 1_000);
        int id = table.add(worker, WorkerEntry.Handover.AFTER, "w", loop.nanos()).id();
        table.probeSucceeded(id, loop.nanos());
      }
      var usual = ReplicaSettings.of(name, epoch, terms);
      var settings =
          new ReplicaSettings(
              name, epoch, terms, expected, usual.pace(), usual.beat(), usual.lossTime());
      replicas = flow.join(settings, message -> channel.publish(this, message), this);
    }

    /** Submits a request with a key; null where that is refused. */
    @Nullable
    KeyedRequest submit(FlowCaller caller, String session) {
      var request = new KeyedRequest(this, caller);
      request.resume(flow.arrive(request.request));
      if (request.isRefused) return null;
      var route = new RouteRequest(session, 100, List.of(), SloClass.STANDARD, List.of());
      var needs = Submission.NO_NEEDS;
      var submission = new Submission("m", route, false, false, needs, 0);
      request.resume(flow.submit(request.request, submission));
      if (request.isRefused) return null;
      underWay.add(request);
      return request;
    }

    /** Asks with a key, which must be granted. */
    KeyedRequest granted(FlowCaller caller, String session) {
      return Objects.requireNonNull(submit(caller, session));
    }

    void end(KeyedRequest request) {
      underWay.remove(request);
      flow.over(request.request, RequestEnd.of(Verdict.ANSWERED));
    }

    /** Nothing of it is heard any more, and it hears nothing. */
    void kill() {
      isDead = true;
      gateways.remove(this);
    }

    int inFlight(int worker) {
      return router.load(worker).inFlight();
    }

    BookedLoad booked(int worker) {
      return router.booked(worker);
    }

    @Override
    public void joined() {
      received.add("joined");
    }

    @Override
    public void alone(int others) {
      received.add("alone " + others);
    }

    @Override
    public void came(String gateway) {
      received.add("came " + gateway);
    }

    @Override
    public void went(String gateway) {
      received.add("went " + gateway);
    }

    @Override
    public void refused(String gateway, String why) {
      received.add("refused " + gateway + ": " + why);
    }
  }

  /** A request that does nothing by itself. */
  static final class KeyedRequest extends IdleDriver {
    final FlowRequest request;
    final Gateway at;
    boolean isRefused;

    KeyedRequest(Gateway at, FlowCaller caller) {
      this.at = at;
      this.request = new FlowRequest(caller, this);
    }

    @Override
    protected void refuse(Refusal refusal) {
      isRefused = true;
      at.flow.over(request, RequestEnd.of(Verdict.NONE));
    }
  }

  final VirtualLoop loop = new VirtualLoop();
  final RandomGenerator random;
  final Channel channel = new Channel();
  final List<Gateway> gateways = new ArrayList<>();
  private long epochs;

  ReplicaGroupWalk(RandomGenerator random) {
    this.random = random;
  }

  Gateway start(String name) {
    return start(name, List.of("version=1"), 1);
  }

  Gateway start(String name, List<String> terms, int expected) {
    var gateway = new Gateway(name, ++epochs, terms, expected);
    gateways.add(gateway);
    return gateway;
  }

  void pass(Duration time) {
    loop.runFor(time);
  }

  /** Returns how many requests all gateways together have with the worker. */
  int truth(int worker) {
    int sum = 0;
    for (var gateway : gateways) sum += gateway.booked(worker).inFlight();
    return sum;
  }

  /** Every gateway counts what all of them have, to the last token. */
  void checkAgreement() {
    for (int worker = 0; worker < WORKERS; worker++) {
      for (var gateway : gateways) {
        assertThat(gateway.inFlight(worker)).as(gateway.name).isEqualTo(truth(worker));
        long tokens = 0;
        for (var each : gateways) tokens += each.booked(worker).prefillTokens();
        assertThat(gateway.router.load(worker).prefillTokens()).isEqualTo(tokens);
      }
    }
  }

  /** Checks what holds at any time, however late the news. */
  void checkAlways() {
    for (var gateway : gateways) {
      for (int worker = 0; worker < WORKERS; worker++) {
        int own = gateway.booked(worker).inFlight();
        int counted = gateway.inFlight(worker);
        assertThat(counted).isGreaterThanOrEqualTo(own);
        if (!gateway.replicas.isJoined()) assertThat(counted).isEqualTo(own);
      }
      assertThat(gateway.replicas.peers()).doesNotContain(gateway.name);
    }
  }

  /** Requests come and end, gateways die and come, the channel fails; then all is calm. */
  void run() {
    for (int i = 0; i < 2 + random.nextInt(4); i++) start("g" + i);
    var caller = FlowCaller.ANYONE;
    for (int step = 0; step < 400; step++) {
      pass(Duration.ofNanos(random.nextInt(20_000_000)));
      var gateway = gateways.get(random.nextInt(gateways.size()));
      var session = random.nextInt(3) == 0 ? "s" + random.nextInt(9) : "";
      if (gateway.underWay.isEmpty() || random.nextBoolean()) {
        gateway.submit(caller, session);
      } else {
        gateway.end(gateway.underWay.get(random.nextInt(gateway.underWay.size())));
      }
      if (step % 40 == 39) disturb();
      checkAlways();
    }
    channel.isDown = false;
    channel.loss = 0;
    pass(CALM);
    for (var gateway : gateways) {
      assertThat(gateway.replicas.isJoined()).isTrue();
      assertThat(gateway.replicas.gateways()).isEqualTo(gateways.size());
    }
    checkAgreement();
    for (var gateway : gateways) {
      while (!gateway.underWay.isEmpty()) gateway.end(gateway.underWay.getFirst());
    }
    pass(CALM);
    checkAgreement();
    for (int worker = 0; worker < WORKERS; worker++) assertThat(truth(worker)).isZero();
  }

  private void disturb() {
    channel.delay = Duration.ofMillis(random.nextInt(60));
    channel.loss = random.nextInt(3) == 0 ? random.nextDouble() / 2 : 0;
    switch (random.nextInt(5)) {
      case 0 -> channel.isDown = !channel.isDown;
      case 1 -> {
        if (gateways.size() > 1) gateways.get(random.nextInt(gateways.size())).kill();
      }
      case 2 -> {
        if (gateways.size() < 6) start("g" + random.nextInt(9) + "-" + epochs);
      }
      case 3 -> restart();
      default -> pass(Duration.ofMillis(random.nextInt(4_000)));
    }
  }

  /** A gateway under the name of one that was killed. */
  private void restart() {
    var before = gateways.get(random.nextInt(gateways.size()));
    before.kill();
    start(before.name);
  }

  /**
   * Requests with a limited key at all gateways, so many a second of each, for that time.
   *
   * @return how many were granted, by gateway
   */
  Map<String, Integer> press(FlowCaller caller, int perSecond, Duration time) {
    var granted = new TreeMap<String, Integer>();
    long steps = time.toMillis() * perSecond / 1_000;
    for (long step = 0; step < steps; step++) {
      pass(Duration.ofNanos(1_000_000_000L / perSecond));
      for (var gateway : List.copyOf(gateways)) {
        var request = gateway.submit(caller, "");
        if (request == null) continue;
        granted.merge(gateway.name, 1, Integer::sum);
        gateway.end(request);
      }
    }
    return granted;
  }
}
