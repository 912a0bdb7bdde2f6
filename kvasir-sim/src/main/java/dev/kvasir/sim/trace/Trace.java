package dev.kvasir.sim.trace;

import dev.kvasir.Nullable;
import dev.kvasir.sim.workload.Request;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.NoSuchElementException;

/**
 * The requests of a recorded trace in order of arrival, read as they are asked for.
 *
 * <p>Every way in which a trace can be wrong ends in a {@link TraceError}.
 */
public final class Trace implements Iterator<Request> {
  private final TraceOptions options;
  private final TraceLines lines;
  private final RowReader reader;
  private final TraceFormat format;
  private @Nullable ArrayDeque<Request> sorted;
  private @Nullable Request next;
  private boolean begun;
  private long startNanos;
  private long lastNanos;
  private long count;

  private Trace(TraceInput input, @Nullable TraceInput header, TraceOptions options) {
    this.options = options;
    lines = new TraceLines(input);
    var named = options.format();
    format = named == null ? TraceFormat.recognise(lines) : named;
    reader = format.reader(lines, header, options);
  }

  /** Reads a trace that is all in one file. */
  public static Trace read(TraceInput input, TraceOptions options) {
    return new Trace(input, null, options);
  }

  /** Reads a trace that has a header in a file of its own, as those of BLIS do. */
  public static Trace read(TraceInput input, TraceInput header, TraceOptions options) {
    return new Trace(input, header, options);
  }

  public TraceFormat format() {
    return format;
  }

  @Override
  public boolean hasNext() {
    if (!begun) begin();
    return next != null;
  }

  @Override
  public Request next() {
    if (!hasNext() || next == null)
      throw new NoSuchElementException("after " + count + " requests");
    var request = next;
    count++;
    next = count < options.requestsMax() ? placed(row()) : null;
    return request;
  }

  private void begin() {
    begun = true;
    if (options.order() == TraceOptions.Order.SORTED) sorted = sorted();
    var first = row();
    if (first == null) {
      throw lines.error("the trace holds no requests", "name a file that holds some");
    }
    if (format.start() == TraceFormat.Start.FIRST) startNanos = first.arrivalNanos();
    lastNanos = first.arrivalNanos();
    next = placed(first);
  }

  private ArrayDeque<Request> sorted() {
    var rows = new ArrayList<Request>();
    for (var row = reader.next(); row != null; row = reader.next()) rows.add(row);
    rows.sort(Comparator.comparingLong(Request::arrivalNanos));
    return new ArrayDeque<>(rows);
  }

  private @Nullable Request row() {
    return sorted == null ? reader.next() : sorted.poll();
  }

  private @Nullable Request placed(@Nullable Request row) {
    if (row == null) return null;
    long arrival = row.arrivalNanos();
    if (arrival < lastNanos) {
      throw lines.error(
          "the request came " + (lastNanos - arrival) + " ns before the one above it",
          "sort the file by arrival, or have it sorted (--sort)");
    }
    lastNanos = arrival;
    long since = arrival - startNanos;
    long scaled = options.timeScale() == 1 ? since : Math.round(since * options.timeScale());
    if (scaled > Numbers.NANOS_MAX) {
      throw lines.error(
          "times " + options.timeScale() + ", the request comes after the end of time",
          "scale time by less");
    }
    return scaled == arrival ? row : row.at(scaled);
  }
}
