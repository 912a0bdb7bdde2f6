package dev.kvasir.sim.calibrate;

import dev.kvasir.Nullable;
import dev.kvasir.sim.report.RequestResult;
import dev.kvasir.sim.report.RunResult;
import dev.kvasir.sim.trace.Captured;
import dev.kvasir.sim.workload.Request;
import dev.kvasir.sim.workload.Workload;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;

/**
 * Captured requests as their callers would send them again.
 *
 * <p>Where nearly every request came right after the end of another, a fixed number of callers
 * asked one thing after the other: then a request that ends later has the next one come later.
 * Else requests come when they came.
 */
public final class CallerLoop implements Workload {
  private static final long PAUSE_MAX_NANOS = 60_000_000;
  private static final long EARLY_MAX_NANOS = 15_000_000;
  private static final double SHARE_MIN = 0.9;
  private static final int CALLERS_MIN = 2;

  private final Iterator<Request> first;
  private final Map<String, Request> next = new HashMap<>();
  private final Map<String, Long> pauses = new HashMap<>();

  private CallerLoop(Iterator<Request> first) {
    this.first = first;
  }

  /** A request that came when another had ended. */
  private record Follower(Captured before, Captured after) {}

  /** The workload of these requests, which stand in order of arrival. */
  public static Workload of(List<Captured> requests) {
    var followers = followers(requests);
    if (followers.isEmpty()) {
      return Workload.open(requests.stream().map(Captured::request).iterator());
    }
    var following = new HashMap<String, Follower>();
    for (var each : followers) following.put(each.after.request().id(), each);
    var first =
        requests.stream()
            .map(Captured::request)
            .filter(request -> !following.containsKey(request.id()))
            .iterator();
    var loop = new CallerLoop(first);
    for (var each : followers) {
      var id = each.before.request().id();
      loop.next.put(id, each.after.request());
      long pause = each.after.request().arrivalNanos() - end(each.before);
      loop.pauses.put(id, Math.max(0, pause));
    }
    return loop;
  }

  private static long end(Captured each) {
    return each.request().arrivalNanos() + each.e2eNanos();
  }

  /** Who followed whom; nobody where the requests were not sent by callers that wait. */
  private static List<Follower> followers(List<Captured> requests) {
    var underWay = new PriorityQueue<Captured>(Comparator.comparingLong(CallerLoop::end));
    var ended = new ArrayDeque<Captured>();
    var followers = new ArrayList<Follower>();
    int callers = 0;
    for (var each : requests) {
      long now = each.request().arrivalNanos();
      // A caller may have all of its answer a little before the router closes its books on it.
      while (!underWay.isEmpty() && end(underWay.element()) <= now + EARLY_MAX_NANOS) {
        ended.add(underWay.remove());
      }
      while (!ended.isEmpty() && end(ended.element()) < now - PAUSE_MAX_NANOS) ended.remove();
      if (!ended.isEmpty()) followers.add(new Follower(ended.remove(), each));
      underWay.add(each);
      callers = Math.max(callers, underWay.size());
    }
    boolean isLoop =
        callers >= CALLERS_MIN
            && requests.size() >= 2 * callers
            && followers.size() >= SHARE_MIN * (requests.size() - callers);
    return isLoop ? followers : List.of();
  }

  /** The run with its requests in the order in which they were captured. */
  public static RunResult inOrder(RunResult run, List<Captured> requests) {
    var byId = new HashMap<String, RequestResult>();
    for (var each : run.requests()) byId.put(each.request().id(), each);
    var ordered = new ArrayList<RequestResult>();
    for (var each : requests) {
      var found = byId.get(each.request().id());
      if (found != null) ordered.add(found);
    }
    return new RunResult(ordered, run.instances(), run.endMicros(), run.timeline());
  }

  @Override
  public @Nullable Request next() {
    return first.hasNext() ? first.next() : null;
  }

  @Override
  public @Nullable Request after(Request answered, long nanos) {
    var following = next.get(answered.id());
    if (following == null) return null;
    return following.at(nanos + pauses.getOrDefault(answered.id(), 0L));
  }

  @Override
  public boolean isOpen() {
    return false;
  }

  @Override
  public boolean isWithoutSessions() {
    return false;
  }
}
