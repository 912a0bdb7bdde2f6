package dev.kvasir.sim.workload;

import dev.kvasir.Nullable;
import java.util.Iterator;

/** Takes requests one by one from their source, so that few are in memory. */
final class OpenLoop implements Workload {
  private final Iterator<Request> requests;
  private long lastNanos;

  OpenLoop(Iterator<Request> requests) {
    this.requests = requests;
  }

  @Override
  public @Nullable Request next() {
    if (!requests.hasNext()) return null;
    var request = requests.next();
    if (request.arrivalNanos() < lastNanos) {
      throw new IllegalArgumentException(
          "request " + request.id() + " at " + request.arrivalNanos() + " ns after " + lastNanos);
    }
    lastNanos = request.arrivalNanos();
    return request;
  }

  @Override
  public @Nullable Request after(Request answered, long nanos) {
    return null;
  }

  @Override
  public boolean isOpen() {
    return true;
  }
}
