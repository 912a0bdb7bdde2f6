package dev.kvasir.sim.trace;

import dev.kvasir.Nullable;
import dev.kvasir.sim.workload.WaitingCallers;
import dev.kvasir.sim.workload.Workload;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.PriorityQueue;

/**
 * Finds out whether the callers of a capture waited for their answers.
 *
 * <p>If they did, a replay must wait as well: with the recorded arrivals, a prediction that is a
 * little too slow has more and more requests at a time, which nobody sent.
 *
 * <pre>
 *   almost every request comes right after an answer        or its caller did not wait for it
 *   as many requests are under way at almost all arrivals   or the answers were there by chance
 * </pre>
 */
public final class CapturedCallers {
  private static final long GAP_NANOS_MAX = 20_000_000;

  /** An answer may be recorded a little later than its caller had it. */
  private static final long EARLY_NANOS_MAX = 1_000_000;

  private static final int REQUESTS_MIN = 20;
  private static final double FOLLOWING_MIN = 0.8;
  private static final double STEADY_MIN = 0.9;
  private static final double ALL = 0.9;

  private final List<WaitingCallers.Row> rows = new ArrayList<>();
  private int callers;
  private int steady;
  private int later;

  private CapturedCallers() {}

  /**
   * The callers of these requests, if they waited for their answers; null otherwise.
   *
   * @param requests in order of arrival
   */
  public static @Nullable Workload waiting(List<Captured> requests) {
    var found = new CapturedCallers();
    return found.areWaiting(requests) ? new WaitingCallers(found.rows) : null;
  }

  private boolean areWaiting(List<Captured> requests) {
    if (requests.size() < REQUESTS_MIN || !areWhole(requests)) return false;
    callers = most(requests);
    if (requests.size() < 2 * callers) return false;
    var underWay = new PriorityQueue<Captured>(Comparator.comparingLong(CapturedCallers::end));
    var answered = new PriorityQueue<Captured>(Comparator.comparingLong(CapturedCallers::end));
    int following = 0;
    for (var each : requests) {
      long arrival = each.request().arrivalNanos();
      while (!underWay.isEmpty() && end(underWay.element()) <= arrival + EARLY_NANOS_MAX) {
        answered.add(underWay.remove());
      }
      while (!answered.isEmpty() && end(answered.element()) < arrival - GAP_NANOS_MAX) {
        answered.remove();
      }
      count(underWay.size() + 1 + answered.size());
      var before = answered.poll();
      if (before == null) {
        rows.add(new WaitingCallers.Row(each.request(), "", 0));
      } else {
        following++;
        long gap = Math.max(0, arrival - end(before));
        rows.add(new WaitingCallers.Row(each.request(), before.request().id(), gap));
      }
      underWay.add(each);
    }
    return following >= FOLLOWING_MIN * (requests.size() - callers) && steady >= STEADY_MIN * later;
  }

  /** The callers at an arrival: those that wait, and those that just had an answer. */
  private void count(int present) {
    if (rows.size() < callers) return;
    later++;
    if (present >= ALL * callers) steady++;
  }

  /** Returns whether all requests have an end, and an id of their own. */
  private static boolean areWhole(List<Captured> requests) {
    var ids = new HashSet<String>();
    for (var each : requests) {
      if (each.e2eNanos() == 0 || !ids.add(each.request().id())) return false;
    }
    return true;
  }

  /** The most requests that were under way at a time. */
  private static int most(List<Captured> requests) {
    var ends = new PriorityQueue<Long>();
    int most = 0;
    for (var each : requests) {
      long arrival = each.request().arrivalNanos();
      while (!ends.isEmpty() && ends.element() <= arrival + EARLY_NANOS_MAX) ends.remove();
      ends.add(end(each));
      most = Math.max(most, ends.size());
    }
    return most;
  }

  private static long end(Captured each) {
    return each.request().arrivalNanos() + each.e2eNanos();
  }
}
