package dev.kvasir.tools.load;

import dev.kvasir.Nullable;
import dev.kvasir.net.LiveLoop;
import dev.kvasir.net.Network;
import java.time.Duration;
import java.time.Instant;
import java.util.Iterator;
import java.util.concurrent.CompletableFuture;

/**
 * Loads a server with requests, and reports how it answered.
 *
 * <p>Times count from when a request should have been sent, so that a stall of the server counts
 * for all requests that were due. In an open loop that is the request's own time; in a closed one,
 * when its caller became free.
 */
public final class LoadDriver implements AutoCloseable {
  /** Progress of a load. */
  public record Progress(long sent, long completed, long failed, int inFlight) {}

  private final LiveLoop loop = new LiveLoop("load");
  private final LoadSettings settings;
  private final Iterator<LoadRequest> requests;
  private final OpenAiClient client;
  private final LoadTally tally;
  private final @Nullable LoadCapture capture;
  private final CompletableFuture<LoadReport> end = new CompletableFuture<>();

  /** The request that comes next and is not due yet; in an open loop. */
  private @Nullable LoadRequest due;

  private long startNanos;
  private long lastNanos;
  private int inFlight;
  private boolean exhausted;
  private boolean waiting;

  private volatile Progress progress = new Progress(0, 0, 0, 0);

  /**
   * A driver for these requests, in the order of their arrival.
   *
   * @param capture writes down the answers; null for none. Its owner closes it after the report
   */
  public LoadDriver(
      Network network,
      LoadSettings settings,
      Iterator<LoadRequest> requests,
      @Nullable LoadCapture capture) {
    this.capture = capture;
    this.settings = settings;
    this.requests = requests;
    this.tally = new LoadTally(settings.targets());
    int most = settings.pacing().inFlightMax();
    this.client =
        new OpenAiClient(network, settings.target(), most, settings.timeout(), loop::nanos);
  }

  /** Begins; the report comes when all requests have been answered. */
  public CompletableFuture<LoadReport> start() {
    loop.execute(
        () -> {
          startNanos = loop.nanos();
          lastNanos = startNanos;
          if (capture != null) capture.begin(Instant.now(), startNanos);
          guarded();
        });
    return end;
  }

  public Progress progress() {
    return progress;
  }

  /** Sends nothing more, and waits for nothing: the report comes with what there is. */
  public void stop() {
    loop.execute(
        () -> {
          exhausted = true;
          due = null;
          report(loop.nanos());
        });
  }

  @Override
  public void close() {
    loop.close();
  }

  /** A trace that turns out to be broken ends the load, and says why. */
  private void guarded() {
    try {
      advance();
    } catch (RuntimeException e) {
      end.completeExceptionally(e);
    }
  }

  /** Sends whatever is due, and waits for what is not. */
  private void advance() {
    while (!waiting && inFlight < settings.pacing().inFlightMax()) {
      var request = next();
      if (request == null) break;
      long now = loop.nanos();
      long arrival = arrivalNanos(request, now);
      if (arrival > now) {
        due = request;
        waiting = true;
        var _ = loop.after(Duration.ofNanos(arrival - now), this::wake);
      } else {
        send(request, arrival, now);
      }
    }
    updateProgress();
    if (exhausted && inFlight == 0) report(lastNanos);
  }

  private void report(long endNanos) {
    if (!end.isDone()) end.complete(tally.report((endNanos - startNanos) / 1e9));
  }

  private void wake() {
    waiting = false;
    guarded();
  }

  private @Nullable LoadRequest next() {
    var request = due;
    due = null;
    if (request != null) return request;
    if (!exhausted && requests.hasNext()) {
      request = requests.next();
      long begin = begin(request);
      if (begin < settings.duration().toNanos()) return request;
    }
    exhausted = true;
    return null;
  }

  /** When the request comes, from the beginning of the load on. */
  private long begin(LoadRequest request) {
    return switch (settings.pacing()) {
      case Pacing.Open _ -> request.arrivalNanos();
      case Pacing.Closed _ -> loop.nanos() - startNanos;
    };
  }

  private long arrivalNanos(LoadRequest request, long now) {
    return switch (settings.pacing()) {
      case Pacing.Open _ -> startNanos + request.arrivalNanos();
      case Pacing.Closed _ -> now;
    };
  }

  private void send(LoadRequest request, long arrival, long now) {
    inFlight++;
    tally.sent(now - arrival);
    client.send(request).onSuccess(answer -> loop.execute(() -> answered(arrival, answer)));
  }

  private void answered(long arrival, Answer answer) {
    inFlight--;
    lastNanos = loop.nanos();
    tally.answered(arrival, answer);
    if (capture != null && answer instanceof Answer.Complete complete && !end.isDone()) {
      capture.answered(arrival, complete);
    }
    guarded();
  }

  private void updateProgress() {
    progress = new Progress(tally.sent(), tally.completed(), tally.failed(), inFlight);
  }
}
