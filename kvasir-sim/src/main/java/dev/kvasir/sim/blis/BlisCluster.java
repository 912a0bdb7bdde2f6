package dev.kvasir.sim.blis;

import dev.kvasir.sim.latency.LatencyModel;
import dev.kvasir.sim.result.InstanceResult;
import dev.kvasir.sim.result.RequestEnding;
import dev.kvasir.sim.result.RequestResult;
import dev.kvasir.sim.result.RunResult;
import dev.kvasir.sim.result.Timeline;
import dev.kvasir.sim.workload.Request;
import dev.kvasir.sim.workload.Workload;
import dev.kvasir.time.EventLoop;
import dev.kvasir.time.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A cluster as BLIS has it: requests arrive, are admitted and routed, and wait at an instance. */
public final class BlisCluster {
  /** Time that a caller waits for the answer to any request but the first. */
  private static final long FOLLOW_UP_NANOS = 300_000_000_000L;

  private final VirtualLoop loop = new VirtualLoop();
  private final EventLoop arrivals = loop.lane(0);
  private final EventLoop admissions = loop.lane(1);
  private final EventLoop routings = loop.lane(2);
  private final BlisSettings settings;
  private final Workload workload;
  private final BlisRouting routing;
  private final List<BlisInstance> instances = new ArrayList<>();
  private final List<Tracked> requests = new ArrayList<>();
  private final Timeline timeline = new Timeline();
  private int followUps;

  public BlisCluster(
      BlisSettings settings, LatencyModel latency, Workload workload, BlisRouting routing) {
    this.settings = settings;
    this.workload = workload;
    this.routing = routing;
    for (int index = 0; index < settings.instances(); index++) {
      instances.add(new BlisInstance(index, settings, latency, loop, this::left));
    }
  }

  public RunResult run() {
    var first = workload.next();
    if (first != null) expect(first);
    long horizonNanos = Math.multiplyExact(settings.horizonMicros(), 1000L);
    while (loop.pending() > 0 && loop.nextNanos() <= horizonNanos) loop.step();
    return result();
  }

  private void expect(Request request) {
    arrivals.after(
        Duration.ofNanos(request.arrivalNanos() - loop.nanos()),
        () -> {
          var next = workload.next();
          if (next != null) expect(next);
          arrive(request);
        });
  }

  private void arrive(Request request) {
    var tracked = new Tracked(request);
    requests.add(tracked);
    admissions.after(micros(settings.times().admissionMicros()), () -> admit(tracked));
  }

  private void admit(Tracked request) {
    if (!routing.admits(request.request, instances, loop.nanos() / 1000)) {
      request.ending = RequestEnding.REJECTED;
      return;
    }
    routings.after(micros(settings.times().routingMicros()), () -> route(request));
  }

  private void route(Tracked request) {
    int chosen = routing.pick(request.request, instances, loop.nanos() / 1000);
    instances.get(chosen).arrive(request);
  }

  private void left(Tracked request, long micros) {
    routing.left(request.instance);
    if (request.ending != RequestEnding.COMPLETED) return;
    var row = workload.after(request.request, micros * 1000);
    if (row != null) {
      var turn = row.turn();
      followUps++;
      var next =
          row.named("session_%s_round_%s_%s".formatted(turn.session(), turn.round(), followUps))
              .due(row.arrivalNanos() + FOLLOW_UP_NANOS);
      arrivals.after(Duration.ofNanos(next.arrivalNanos() - loop.nanos()), () -> arrive(next));
    }
  }

  private static Duration micros(long micros) {
    return Duration.ofNanos(Math.multiplyExact(micros, 1000L));
  }

  private RunResult result() {
    var results = new ArrayList<RequestResult>();
    for (var request : requests) {
      if (request.isAccountedFor()) results.add(request.result());
    }
    var totals = new ArrayList<InstanceResult>();
    long end = 0;
    for (var instance : instances) {
      totals.add(instance.result());
      end = Math.max(end, instance.clockMicros());
    }
    return new RunResult(results, totals, end, timeline);
  }
}
