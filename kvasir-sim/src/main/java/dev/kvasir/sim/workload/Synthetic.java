package dev.kvasir.sim.workload;

import dev.kvasir.Nullable;
import java.util.HashMap;
import java.util.Map;
import java.util.PriorityQueue;

/** A random workload: the requests of several clients, generated on demand. */
public final class Synthetic implements Workload {
  private final PriorityQueue<Place> queue = new PriorityQueue<>();
  private final Map<String, ClientSource> clients = new HashMap<>();
  private final long endNanos;
  private final boolean withoutSessions;
  private long requestsLeft;

  public Synthetic(WorkloadSpec spec) {
    endNanos = spec.duration().toNanos();
    requestsLeft = spec.requestsMax();
    var specs = spec.clients();
    withoutSessions = specs.stream().allMatch(client -> client.sessions() == null);
    for (int index = 0; index < specs.size(); index++) {
      var source = new ClientSource(specs.get(index), spec.seed());
      clients.put(source.id(), source);
      queue.add(new Place(source, source.nextNanos(), index));
    }
  }

  /** Place of a client in the queue; of two at the same time, the one named first goes first. */
  private record Place(ClientSource source, long nanos, int index) implements Comparable<Place> {
    @Override
    public int compareTo(Place other) {
      int byTime = Long.compare(nanos, other.nanos);
      return byTime != 0 ? byTime : Integer.compare(index, other.index);
    }
  }

  @Override
  public @Nullable Request next() {
    var place = queue.peek();
    if (place == null || place.nanos() >= endNanos || requestsLeft == 0) return null;
    requestsLeft--;
    queue.remove();
    var source = place.source();
    var request = source.next();
    queue.add(new Place(source, source.nextNanos(), place.index()));
    return request;
  }

  @Override
  public @Nullable Request after(Request answered, long nanos) {
    if (nanos < answered.arrivalNanos()) {
      throw new IllegalArgumentException(answered + " answered at " + nanos + " ns");
    }
    var session = answered.turn().session();
    if (session.isEmpty() || requestsLeft == 0) return null;
    var source = clients.get(session.substring(0, session.indexOf('/')));
    if (source == null) throw new IllegalArgumentException("no client asked " + answered);
    var request = source.after(answered, nanos);
    if (request == null || request.arrivalNanos() >= endNanos) return null;
    requestsLeft--;
    return request;
  }

  @Override
  public boolean isOpen() {
    return withoutSessions;
  }

  @Override
  public boolean isWithoutSessions() {
    return withoutSessions;
  }
}
