package dev.kvasir.sim.workload;

import dev.kvasir.Nullable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/**
 * Callers that each wait for an answer before they send their next request.
 *
 * <p>A request without a predecessor arrives as recorded, any other some time after the answer to
 * its predecessor. It need not belong to the same conversation, or to any. What would follow a
 * request that is never answered is not sent.
 */
public final class WaitingCallers implements Workload {
  /**
   * A request and what it waits for.
   *
   * @param predecessor id of the request that its caller sent before; empty for none
   * @param gapNanos from that answer to this request
   */
  public record Row(Request request, String predecessor, long gapNanos) {}

  private record Next(Request request, long gapNanos) {}

  private final Iterator<Request> opening;
  private final Map<String, Next> following = new HashMap<>();

  /**
   * Callers with these requests.
   *
   * @param rows in order of arrival; no two follow the same request
   */
  public WaitingCallers(List<Row> rows) {
    var first = new ArrayList<Request>();
    for (var row : rows) {
      if (row.predecessor.isEmpty()) {
        first.add(row.request);
      } else if (following.put(row.predecessor, new Next(row.request, row.gapNanos)) != null) {
        throw new IllegalArgumentException("two requests follow " + row.predecessor);
      }
    }
    opening = first.iterator();
  }

  @Override
  public @Nullable Request next() {
    return opening.hasNext() ? opening.next() : null;
  }

  @Override
  public @Nullable Request after(Request answered, long nanos) {
    var next = following.remove(answered.id());
    return next == null ? null : next.request.at(Math.addExact(nanos, next.gapNanos));
  }
}
