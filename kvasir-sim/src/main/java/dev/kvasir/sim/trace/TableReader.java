package dev.kvasir.sim.trace;

import dev.kvasir.Nullable;
import dev.kvasir.sim.workload.Content;
import dev.kvasir.sim.workload.Request;
import dev.kvasir.sim.workload.TraceCaller;
import dev.kvasir.sim.workload.Turn;

/** Reads plain tables of arrivals in seconds and lengths: those of BurstGPT and of Vidur. */
final class TableReader implements RowReader {
  private static final long NANOS_PER_SECOND = 1_000_000_000;

  private final CsvRows rows;
  private final SessionRounds rounds = new SessionRounds();
  private final int time;
  private final int input;
  private final int output;
  private final int session;
  private long index;

  private TableReader(CsvRows rows, String time, String input, String output, String session) {
    this.rows = rows;
    this.time = rows.column(time);
    this.input = rows.column(input);
    this.output = rows.column(output);
    this.session = rows.columnIfAny(session);
  }

  static TableReader burstGpt(TraceLines lines) {
    return new TableReader(
        new CsvRows(lines), "Timestamp", "Request tokens", "Response tokens", "Session ID");
  }

  static TableReader vidur(TraceLines lines) {
    return new TableReader(
        new CsvRows(lines), "arrived_at", "num_prefill_tokens", "num_decode_tokens", "session_id");
  }

  @Override
  public @Nullable Request next() {
    if (!rows.next()) return null;
    var name = rows.text(session);
    var turn = name.isEmpty() ? Turn.ALONE : new Turn(name, rounds.next(name), 0);
    var content = Content.unique(index);
    return new Request(
        RowReader.id(index++),
        rows.nanos(time, NANOS_PER_SECOND),
        rows.tokens(input, 1),
        rows.tokens(output, 0),
        content,
        TraceCaller.ANYBODY,
        turn,
        0);
  }
}
