package dev.kvasir.router.flow;

import dev.kvasir.Nullable;
import dev.kvasir.router.view.SloClass;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * The requests that wait, in one line for each kind of place that they wait for.
 *
 * <p>All requests of a line can start at the same workers, so only the first of each line is looked
 * at, however many wait behind it.
 */
final class WaitingRequests {
  /**
   * The places that requests of a line wait for.
   *
   * @param workers those that may answer them; empty where nothing bounds what workers are given
   * @param sloClass which decides what of a worker is kept for others
   */
  record Places(List<Integer> workers, SloClass sloClass) {
    Places {
      workers = List.copyOf(workers);
    }
  }

  private static final Comparator<FlowRequest> ORDER =
      Comparator.comparingInt(FlowRequest::rank)
          .thenComparingDouble(request -> request.place)
          .thenComparingLong(request -> request.number);

  /** None of them is empty. */
  private final Map<Places, TreeSet<FlowRequest>> lines = new LinkedHashMap<>();

  private int size;

  static boolean isBefore(FlowRequest request, FlowRequest other) {
    return ORDER.compare(request, other) < 0;
  }

  int size() {
    return size;
  }

  boolean isEmpty() {
    return size == 0;
  }

  void add(FlowRequest request) {
    if (lines.computeIfAbsent(request.places(), _ -> new TreeSet<>(ORDER)).add(request)) size++;
  }

  void remove(FlowRequest request) {
    var line = lines.get(request.places());
    if (line == null || !line.remove(request)) return;
    size--;
    if (line.isEmpty()) lines.remove(request.places());
  }

  /** The first of its line; null where nobody waits for those places. */
  @Nullable
  FlowRequest first(Places places) {
    var line = lines.get(places);
    return line == null ? null : line.first();
  }

  /** The first in the order of all whose places are free; null where none are. */
  @Nullable
  FlowRequest first(Predicate<Places> areFree) {
    FlowRequest found = null;
    for (var line : lines.entrySet()) {
      var first = line.getValue().first();
      if (found != null && isBefore(found, first)) continue;
      if (areFree.test(line.getKey())) found = first;
    }
    return found;
  }

  /** The last in the order of all. */
  @Nullable
  FlowRequest last() {
    FlowRequest found = null;
    for (var line : lines.values()) {
      var last = line.last();
      if (found == null || isBefore(found, last)) found = last;
    }
    return found;
  }

  /** Returns how many go before the request, in all lines. */
  int before(FlowRequest request) {
    int before = 0;
    for (var line : lines.values()) before += line.headSet(request).size();
    return before;
  }

  /** Other workers may answer requests now than before: each goes to the line that is its own. */
  void sortAnew(Function<FlowRequest, Places> places) {
    var all = new ArrayList<FlowRequest>(size);
    for (var line : lines.values()) all.addAll(line);
    lines.clear();
    size = 0;
    for (var request : all) {
      request.places = places.apply(request);
      add(request);
    }
  }
}
