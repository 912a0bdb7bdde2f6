package dev.kvasir.gateway.journal;

import dev.kvasir.Nullable;
import dev.kvasir.net.metrics.MetricSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;

/** Journal of decisions, which go to metrics, the dashboard, the log, the capture and traces. */
public final class Journal implements AutoCloseable {
  /** About what a request holds that waits to be written, and each name of its blocks. */
  private static final long LINE_BYTES = 2_048;

  private static final long BLOCK_BYTES = 64;

  public static final MetricSet<Journal> METRICS =
      new MetricSet<Journal>()
          .once(
              journal ->
                  journal.counters(
                      "kvasir_records_dropped_total",
                      "Records of requests that could not be written, or came faster than that.",
                      "record",
                      Journal::dropped));

  private final GatewayMetrics metrics = new GatewayMetrics();
  private final Recent recent = new Recent();
  private final DecisionLine lines;
  private final CaptureLine captures;
  private final @Nullable LineFile log;
  private final @Nullable LineFile capture;
  private final @Nullable TraceExport traces;

  private Journal(
      DecisionLine lines,
      CaptureLine captures,
      @Nullable LineFile log,
      @Nullable LineFile capture,
      @Nullable TraceExport traces) {
    this.lines = lines;
    this.captures = captures;
    this.log = log;
    this.capture = capture;
    this.traces = traces;
  }

  public static Journal open(JournalFiles files, long originMicros, int blockTokens) {
    return new Journal(
        new DecisionLine(originMicros),
        new CaptureLine(originMicros, blockTokens),
        files.log() == null ? null : LineFile.open(files.log()),
        files.capture() == null ? null : LineFile.open(files.capture()),
        files.traces() == null
            ? null
            : TraceExport.start(files.traces(), new TraceSpans(originMicros)));
  }

  public GatewayMetrics metrics() {
    return metrics;
  }

  public Recent recent() {
    return recent;
  }

  /** On the loop of the router; the lines are made elsewhere. */
  public void write(Decision decision) {
    metrics.count(decision);
    var brief = decision.brief();
    recent.add(brief);
    if (log != null) log.add(() -> lines.of(brief), LINE_BYTES);
    if (capture != null) {
      long bytes = LINE_BYTES + BLOCK_BYTES * decision.request().names().blocks().size();
      capture.add(() -> captures.of(decision), bytes);
    }
    if (traces != null) traces.add(brief);
  }

  /** Returns the number of records that were not written down, by kind. */
  private Map<String, Long> dropped() {
    var dropped = new LinkedHashMap<String, Long>();
    dropped.put("requests", log == null ? 0 : log.dropped());
    dropped.put("capture", capture == null ? 0 : capture.dropped());
    dropped.put("traces", traces == null ? 0 : traces.dropped());
    return dropped;
  }

  /** Adds a line to the capture, if there is one; it is made on another thread. */
  public void capture(Supplier<@Nullable String> line) {
    if (capture != null) capture.add(line, LINE_BYTES);
  }

  /** As {@link #capture}, with a line with which each file of the capture begins. */
  public void captureHead(Supplier<@Nullable String> line) {
    if (capture != null) capture.addHead(line, LINE_BYTES);
  }

  @Override
  public void close() {
    if (log != null) log.close();
    if (capture != null) capture.close();
    if (traces != null) traces.close();
  }
}
