package dev.kvasir.live.gateway;

import dev.kvasir.Nullable;
import java.util.function.Supplier;

/** Where decisions are written down: metrics, the dashboard, the log, the capture, traces. */
final class Journal implements AutoCloseable {
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

  static Journal open(GatewaySettings.Files files, long originMicros, int blockTokens) {
    return new Journal(
        new DecisionLine(originMicros),
        new CaptureLine(originMicros, blockTokens),
        files.log() == null ? null : LineFile.open(files.log()),
        files.capture() == null ? null : LineFile.open(files.capture()),
        files.traces() == null
            ? null
            : TraceExport.start(files.traces(), new TraceSpans(originMicros)));
  }

  GatewayMetrics metrics() {
    return metrics;
  }

  Recent recent() {
    return recent;
  }

  /** On the loop of the router; the lines are made elsewhere. */
  void write(Decision decision) {
    metrics.count(decision);
    var brief = decision.brief();
    recent.add(brief);
    if (log != null) log.add(() -> lines.of(brief));
    if (capture != null) capture.add(() -> captures.of(decision));
    if (traces != null) traces.add(brief);
  }

  /** Adds a line to the capture, if there is one; it is made on another thread. */
  void capture(Supplier<@Nullable String> line) {
    if (capture != null) capture.add(line);
  }

  @Override
  public void close() {
    if (log != null) log.close();
    if (capture != null) capture.close();
    if (traces != null) traces.close();
  }
}
