package dev.kvasir.gateway.journal;

import static java.lang.System.Logger.Level.WARNING;

import dev.kvasir.net.Threads;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Sends what became of requests to a collector of OpenTelemetry, on a thread of its own.
 *
 * <p>Whoever adds a decision never waits. Where the collector is too slow or not there, decisions
 * are dropped and counted; it is told once, and again after the next success.
 */
final class TraceExport implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(TraceExport.class.getName());
  private static final int WAITING_MAX = 4_096;
  private static final int AT_ONCE_MAX = 256;
  private static final Duration PACE = Duration.ofSeconds(1);
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private final URI collector;
  private final TraceSpans spans;
  private final ArrayBlockingQueue<Optional<Decision>> waiting =
      new ArrayBlockingQueue<>(WAITING_MAX);
  private final AtomicLong dropped = new AtomicLong();
  private final Thread thread = Thread.ofPlatform().name("traces").unstarted(this::run);
  private boolean failing;

  private TraceExport(URI collector, TraceSpans spans) {
    this.collector = collector;
    this.spans = spans;
  }

  static TraceExport start(URI collector, TraceSpans spans) {
    var export = new TraceExport(collector, spans);
    export.thread.start();
    return export;
  }

  void add(Decision decision) {
    var trace = decision.request().trace();
    if (trace == null || !trace.sampled()) return;
    if (!waiting.offer(Optional.of(decision))) dropped.incrementAndGet();
  }

  long dropped() {
    return dropped.get();
  }

  private void run() {
    try (var client = HttpClient.newBuilder().connectTimeout(PATIENCE).build()) {
      boolean open = true;
      while (open) {
        var some = new ArrayList<Decision>();
        open = collect(some);
        if (!some.isEmpty()) send(client, some);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Waits until there is something, and a little for more; false where no more will come. */
  private boolean collect(List<Decision> some) throws InterruptedException {
    var next = waiting.take();
    long until = System.nanoTime() + PACE.toNanos();
    while (next != null && next.isPresent()) {
      some.add(next.get());
      if (some.size() == AT_ONCE_MAX) return true;
      next = waiting.poll(until - System.nanoTime(), TimeUnit.NANOSECONDS);
    }
    return next == null;
  }

  private void send(HttpClient client, List<Decision> some) throws InterruptedException {
    var request =
        HttpRequest.newBuilder(collector)
            .timeout(PATIENCE)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(spans.of(some)))
            .build();
    try {
      int status = client.send(request, BodyHandlers.discarding()).statusCode();
      if (status / 100 == 2) failing = false;
      else failed(some.size(), "it answered " + status);
    } catch (IOException e) {
      failed(some.size(), e.toString());
    }
  }

  private void failed(int count, String why) {
    dropped.addAndGet(count);
    if (!failing) LOG.log(WARNING, "traces do not reach {0}: {1}", collector, why);
    failing = true;
  }

  /** Sends what is there, and ends. */
  @Override
  public void close() {
    while (thread.isAlive() && !waiting.offer(Optional.empty())) Thread.onSpinWait();
    Threads.join(thread);
  }
}
