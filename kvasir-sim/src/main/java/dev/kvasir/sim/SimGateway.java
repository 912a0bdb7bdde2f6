package dev.kvasir.sim;

import dev.kvasir.kv.event.KvEvent;
import dev.kvasir.router.Router;
import dev.kvasir.router.RouterSettings;
import dev.kvasir.router.flow.RequestFlow;
import dev.kvasir.router.replica.ReplicaMessage;
import dev.kvasir.router.replica.ReplicaSettings;
import dev.kvasir.router.replica.Replicas;
import dev.kvasir.router.view.Availability;
import dev.kvasir.router.view.EngineSignals;
import dev.kvasir.router.view.Instance;
import dev.kvasir.router.worker.WorkerEntry;
import dev.kvasir.router.worker.WorkerTable;
import dev.kvasir.sim.cluster.ClusterSpec;
import dev.kvasir.sim.cluster.RoutingSpec;
import dev.kvasir.time.EventLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A gateway of a simulation: a router, the instances as it sees them, and its flow of requests. */
final class SimGateway {
  private final Router router;
  private final WorkerTable<SimInstance> workers;
  private final RequestFlow flow;

  private SimGateway(EventLoop loop, RoutingSpec routing, RouterSettings settings) {
    this.router = new Router(loop, settings, routing.picks(), routing.placements());
    this.workers = new WorkerTable<>(router, routing.flow().ejection(), new Unheard());
    this.flow = new RequestFlow(loop, router, workers, routing.flow());
  }

  /**
   * All gateways of a cluster; where they share what they have booked, each message comes to all of
   * them at the same time, after the delay.
   */
  static List<SimGateway> of(EventLoop loop, ClusterSpec spec, RouterSettings settings) {
    var gateways = new ArrayList<SimGateway>();
    gateways.add(new SimGateway(loop, spec.routing(), settings));
    for (var other : spec.replication().others()) {
      gateways.add(new SimGateway(loop, other, settings));
    }
    return gateways;
  }

  /** Begins to share; the instances are known by now. */
  static void share(EventLoop loop, List<SimGateway> gateways, Duration delay) {
    var replicas = new ArrayList<Replicas>();
    Replicas.Link link =
        message -> {
          if (delay.isZero()) receive(replicas, message);
          else loop.after(delay, () -> receive(replicas, message));
        };
    for (int i = 0; i < gateways.size(); i++) {
      var base = ReplicaSettings.of("gateway_" + i, 0, List.of());
      var settings =
          new ReplicaSettings(
              base.gateway(), 0, List.of(), 1, Duration.ZERO, base.beat(), base.lossTime());
      replicas.add(gateways.get(i).flow.join(settings, link, new Silent()));
    }
  }

  private static void receive(List<Replicas> replicas, ReplicaMessage message) {
    for (int i = 0; i < replicas.size(); i++) replicas.get(i).receive(message);
  }

  RequestFlow flow() {
    return flow;
  }

  Router router() {
    return router;
  }

  void add(Instance described, SimInstance instance) {
    int id = workers.add(described, WorkerEntry.Handover.AFTER, instance, 0).id();
    if (id != instance.index()) {
      throw new IllegalStateException("instance " + instance.index() + " became " + id);
    }
    workers.probeSucceeded(id, 0);
  }

  /** The instance answers requests for that model alone. */
  void serves(int id, String model) {
    workers.serves(id, List.of(model), 0);
  }

  void onEvents(int id, List<KvEvent> events) {
    router.on(id, events);
  }

  void updateSignals(int id, EngineSignals signals) {
    router.updateSignals(id, signals);
  }

  /** Asks the instance how it is; whether it gets requests now. */
  boolean probe(SimInstance instance, long nowNanos) {
    int id = instance.index();
    if (instance.isUp()) workers.probeSucceeded(id, nowNanos);
    else workers.probeFailed(id, nowNanos);
    return workers.entry(id).availability() == Availability.READY;
  }

  /** Sends the instance nothing new. */
  void drain(int id) {
    workers.drain(id);
  }

  /** Sends the instance requests again. */
  void resume(int id) {
    workers.resume(id);
  }

  /** The instances of a simulation come and go unheard. */
  private static final class Unheard implements WorkerTable.Listener<SimInstance> {
    @Override
    public void changed(WorkerEntry<SimInstance> entry, Availability before) {}

    @Override
    public void withheld(WorkerEntry<SimInstance> entry, int ready) {}
  }

  private static final class Silent implements Replicas.Listener {
    @Override
    public void joined() {}

    @Override
    public void alone(int gateways) {}

    @Override
    public void came(String gateway) {}

    @Override
    public void went(String gateway) {}

    @Override
    public void refused(String gateway, String why) {
      throw new IllegalStateException(gateway + " is refused: " + why);
    }
  }
}
