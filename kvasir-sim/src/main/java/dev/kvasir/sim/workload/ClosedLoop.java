package dev.kvasir.sim.workload;

import dev.kvasir.Nullable;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * Recorded conversations in a closed loop: each round is sent only after the answer to the round
 * before it.
 *
 * <p>The first round of a session, and a request that stands alone, come when the record has them;
 * any other comes when the one before it is answered and the caller has thought. A request that is
 * never answered ends its session.
 */
public final class ClosedLoop implements Workload {
  private final Iterator<Request> opening;
  private final Map<String, ArrayDeque<Request>> rounds = new LinkedHashMap<>();

  private ClosedLoop(Iterator<Request> rows, UnaryOperator<List<Request>> thinking) {
    var alone = new ArrayList<Request>();
    var sessions = new LinkedHashMap<String, List<Request>>();
    while (rows.hasNext()) {
      var row = rows.next();
      if (row.turn().isAlone()) {
        alone.add(row);
      } else {
        sessions.computeIfAbsent(row.turn().session(), _ -> new ArrayList<>()).add(row);
      }
    }
    var first = new ArrayList<Request>();
    sessions.forEach(
        (session, requests) -> {
          requests.sort(Comparator.comparingInt(row -> row.turn().round()));
          first.add(requests.getFirst());
          rounds.put(session, new ArrayDeque<>(thinking.apply(requests)));
        });
    first.addAll(alone);
    first.sort(Comparator.comparingLong(Request::arrivalNanos));
    opening = first.iterator();
  }

  /**
   * The think times are those of the rows.
   *
   * <p>Where no row of a session has any, they are the times between its arrivals: too long by what
   * the answers took, but nothing better is known.
   */
  public static ClosedLoop recorded(Iterator<Request> rows) {
    return new ClosedLoop(
        rows, requests -> isThoughtful(requests) ? later(requests) : spaced(requests));
  }

  private static boolean isThoughtful(List<Request> requests) {
    return later(requests).stream().anyMatch(row -> row.turn().thinkNanos() > 0);
  }

  private static List<Request> later(List<Request> requests) {
    return requests.subList(1, requests.size());
  }

  private static List<Request> spaced(List<Request> requests) {
    var rows = new ArrayList<Request>();
    for (int round = 1; round < requests.size(); round++) {
      var row = requests.get(round);
      long gap = row.arrivalNanos() - requests.get(round - 1).arrivalNanos();
      rows.add(row.thinking(Math.max(0, gap)));
    }
    return rows;
  }

  /** Every caller thinks for the same time. */
  public static ClosedLoop thinking(Iterator<Request> rows, Duration think) {
    if (think.isNegative()) throw new IllegalArgumentException("thinks for " + think);
    long nanos = think.toNanos();
    return new ClosedLoop(
        rows, requests -> later(requests).stream().map(row -> row.thinking(nanos)).toList());
  }

  @Override
  public @Nullable Request next() {
    return opening.hasNext() ? opening.next() : null;
  }

  @Override
  public @Nullable Request after(Request answered, long nanos) {
    if (nanos < answered.arrivalNanos()) {
      throw new IllegalArgumentException(answered + " answered at " + nanos + " ns");
    }
    var session = answered.turn().session();
    var left = rounds.get(session);
    if (left == null) return null;
    var row = left.poll();
    if (left.isEmpty()) rounds.remove(session);
    return row == null ? null : row.at(Math.addExact(nanos, row.turn().thinkNanos()));
  }
}
