package dev.kvasir.cli;

import dev.kvasir.engine.Engine;
import dev.kvasir.engine.EngineSettings;
import dev.kvasir.engine.Sequence;
import dev.kvasir.engine.SequenceListener;
import dev.kvasir.engine.SequenceRequest;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PooledKv;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.evict.Eviction;
import dev.kvasir.kv.evict.FrequencySketch;
import dev.kvasir.router.view.SloClass;
import dev.kvasir.sim.latency.LinearModel;
import dev.kvasir.sim.step.TimedModel;
import dev.kvasir.sim.trace.Trace;
import dev.kvasir.sim.trace.TraceInput;
import dev.kvasir.sim.trace.TraceOptions;
import dev.kvasir.sim.workload.ContentNames;
import dev.kvasir.sim.workload.Request;
import dev.kvasir.time.EventLoop;
import dev.kvasir.time.VirtualLoop;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** One engine on a pool of blocks, put together by hand, and requests for it. */
final class SingleTier {
  static final int BLOCKS = 400;
  private static final int TOKENS = 16;
  private static final LinearModel MODEL =
      LinearModel.of(List.of(0.0, 0.0, 0.0), List.of(1000.0, 20.0, 30.0));

  private final VirtualLoop loop = new VirtualLoop();

  /** Lane for ends of steps, so that a request that arrives as a step ends joins the next step. */
  private final EventLoop later = loop.lane(1);

  private final BlockPool pool =
      new BlockPool(
          PoolSettings.of(Tier.DEVICE, BLOCKS, TOKENS)
              .with(Eviction.named("lru", new FrequencySketch(BLOCKS))),
          new PrefixRegistry(),
          new KvEvents());
  private final PooledKv kv = new PooledKv(pool);
  private final Engine engine =
      new Engine(later, kv, new TimedModel(later, MODEL, () -> 0), EngineSettings.DEFAULT);
  private final Map<String, List<Long>> times = new HashMap<>();

  /** When each request had its first and its last token, in microseconds after its arrival. */
  record Outcome(Map<String, List<Long>> times, long hits, double hitRate, long evicted) {}

  private SingleTier() {}

  /** Requests that share beginnings, more than the memory holds. */
  static String trace() {
    var random = new SplittableRandom(5);
    var rows = new StringBuilder();
    long millis = 0;
    for (int i = 0; i < 80; i++) {
      millis += random.nextInt(60);
      int first = 10 * random.nextInt(6);
      int ids = 1 + random.nextInt(4);
      var names = new StringBuilder();
      for (int id = 0; id < ids; id++) names.append(id == 0 ? "" : ",").append(first + id);
      rows.append("{\"timestamp\": ").append(millis);
      rows.append(", \"input_length\": ").append(512 * ids - random.nextInt(500));
      rows.append(", \"output_length\": ").append(1 + random.nextInt(40));
      rows.append(", \"hash_ids\": [").append(names).append("]}\n");
    }
    return rows.toString();
  }

  static Outcome run(Path trace) throws IOException {
    var alone = new SingleTier();
    try (var bytes = Files.newInputStream(trace)) {
      var requests = Trace.read(new TraceInput("trace", bytes), TraceOptions.USUAL);
      while (requests.hasNext()) alone.expect(requests.next());
    }
    alone.loop.run(10_000_000);
    return new Outcome(
        alone.times, alone.kv.hits(), alone.kv.hitRate(), alone.pool.stats().evicted());
  }

  private void expect(Request request) {
    loop.after(Duration.ofNanos(request.arrivalNanos()), () -> submit(request));
  }

  private void submit(Request request) {
    var sequenceRequest =
        new SequenceRequest(
            request.id(),
            ContentNames.of(request, TOKENS),
            request.promptTokens(),
            request.outputTokens(),
            SloClass.of("").queuePriority(),
            request.arrivalNanos());
    engine.submit(sequenceRequest, new Watch(request));
  }

  /** Notes the times of one request. */
  private final class Watch implements SequenceListener {
    private final Request request;
    private long first = -1;

    Watch(Request request) {
      this.request = request;
    }

    @Override
    public void admitted(Sequence admitted) {}

    @Override
    public void preempted(Sequence preempted) {}

    @Override
    public void prefilled(Sequence prefilled) {
      if (first < 0) first = micros();
    }

    @Override
    public void ended(Sequence over, Sequence.End end) {
      times.put(request.id(), List.of(first, micros()));
    }

    private long micros() {
      return (loop.nanos() - request.arrivalNanos()) / 1000;
    }
  }
}
