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
import java.util.function.ToLongFunction;

/**
 * Recorded conversations as they would go elsewhere: a round is asked only after the answer to the
 * round before it.
 *
 * <p>The first round of a session, and a request that stands alone, come when the record has them;
 * any other comes when the one before it is answered and the caller has thought. A request that is
 * never answered ends its session.
 */
public final class ClosedLoop implements Workload {
  private final Iterator<Request> opening;
  private final Map<String, ArrayDeque<Request>> rounds = new LinkedHashMap<>();
  private final ToLongFunction<Request> thinkNanos;

  private ClosedLoop(Iterator<Request> rows, ToLongFunction<Request> thinkNanos) {
    this.thinkNanos = thinkNanos;
    var first = new ArrayList<Request>();
    var sessions = new LinkedHashMap<String, List<Request>>();
    while (rows.hasNext()) {
      var row = rows.next();
      if (row.turn().isAlone()) {
        first.add(row);
      } else {
        sessions.computeIfAbsent(row.turn().session(), _ -> new ArrayList<>()).add(row);
      }
    }
    sessions.forEach(
        (session, asked) -> {
          asked.sort(Comparator.comparingInt(row -> row.turn().round()));
          first.add(asked.getFirst());
          rounds.put(session, new ArrayDeque<>(asked.subList(1, asked.size())));
        });
    first.sort(Comparator.comparingLong(Request::arrivalNanos));
    opening = first.iterator();
  }

  /** The think times are those of the rows. */
  public static ClosedLoop recorded(Iterator<Request> rows) {
    return new ClosedLoop(rows, row -> row.turn().thinkNanos());
  }

  /** Every caller thinks for the same time. */
  public static ClosedLoop thinking(Iterator<Request> rows, Duration think) {
    if (think.isNegative()) throw new IllegalArgumentException("thinks for " + think);
    long nanos = think.toNanos();
    return new ClosedLoop(rows, _ -> nanos);
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
    return row == null ? null : row.at(Math.addExact(nanos, thinkNanos.applyAsLong(row)));
  }
}
