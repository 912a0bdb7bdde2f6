package dev.kvasir.sim;

import dev.kvasir.Nullable;
import dev.kvasir.engine.Sequence;
import dev.kvasir.engine.SequenceEnd;
import dev.kvasir.engine.SequenceListener;
import dev.kvasir.engine.SequenceRequest;
import dev.kvasir.router.SloClass;
import dev.kvasir.sim.latency.LatencyModel;
import dev.kvasir.sim.report.Ending;
import dev.kvasir.sim.report.RequestResult;
import dev.kvasir.sim.workload.ContentNames;
import dev.kvasir.sim.workload.Request;
import dev.kvasir.sim.workload.Workload;
import dev.kvasir.time.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Runs a cluster of the product's engines in virtual time. */
public final class Simulator {
  private final VirtualLoop loop = new VirtualLoop();
  private final LatencyModel latency;
  private final Workload workload;
  private final int blockTokens;
  private final List<SimInstance> instances = new ArrayList<>();
  private final List<RequestResult> results = new ArrayList<>();
  private long turns;

  public Simulator(int count, InstanceSpec spec, LatencyModel latency, Workload workload) {
    this.latency = latency;
    this.workload = workload;
    this.blockTokens = spec.blockTokens();
    for (int index = 0; index < count; index++) {
      instances.add(new SimInstance(index, loop, spec, latency));
    }
  }

  public List<RequestResult> run() {
    var first = workload.next();
    if (first != null) expect(first);
    while (loop.step()) {}
    return results;
  }

  public List<SimInstance> instances() {
    return instances;
  }

  public long nanos() {
    return loop.nanos();
  }

  private void expect(Request request) {
    loop.after(
        Duration.ofNanos(request.arrivalNanos() - loop.nanos()),
        () -> {
          var next = workload.next();
          if (next != null) expect(next);
          arrive(request);
        });
  }

  private void arrive(Request request) {
    var instance = instances.get((int) (turns++ % instances.size()));
    long wait = latency.queueingMicros(request.promptTokens());
    var flight = new Flight(request, instance);
    if (wait == 0) flight.submit();
    else loop.after(Duration.ofNanos(wait * 1000), flight::submit);
  }

  /** One request from its arrival to its end. */
  private final class Flight implements SequenceListener {
    private final Request request;
    private final SimInstance instance;
    private @Nullable Sequence sequence;
    private @Nullable Timer deadline;
    private long admittedNanos = -1;
    private long firstNanos = -1;

    Flight(Request request, SimInstance instance) {
      this.request = request;
      this.instance = instance;
    }

    void submit() {
      var names = ContentNames.of(request, blockTokens);
      int priority = SloClass.of(request.caller().sloClass()).queuePriority();
      var asked =
          new SequenceRequest(
              request.id(),
              names,
              request.promptTokens(),
              request.outputTokens(),
              priority,
              request.arrivalNanos());
      sequence = instance.engine().submit(asked, this);
    }

    @Override
    public void admitted(Sequence admitted) {
      admittedNanos = loop.nanos();
    }

    @Override
    public void prefilled(Sequence prefilled) {
      if (firstNanos < 0) firstNanos = loop.nanos();
    }

    @Override
    public void ended(Sequence over, SequenceEnd end) {
      long micros = (loop.nanos() - request.arrivalNanos()) / 1000;
      long first = firstNanos < 0 ? -1 : (firstNanos - request.arrivalNanos()) / 1000;
      results.add(
          new RequestResult(
              request,
              instance.index(),
              Ending.COMPLETED,
              first,
              micros,
              (admittedNanos - request.arrivalNanos()) / 1000,
              micros - first,
              Math.max(0, request.outputTokens() - 1),
              request.outputTokens(),
              over.cachedTokens(),
              over.cached()));
      var next = workload.after(request, loop.nanos());
      if (next != null) {
        loop.after(Duration.ofNanos(next.arrivalNanos() - loop.nanos()), () -> arrive(next));
      }
    }
  }
}
