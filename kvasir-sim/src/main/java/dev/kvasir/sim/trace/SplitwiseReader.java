package dev.kvasir.sim.trace;

import dev.kvasir.Nullable;
import dev.kvasir.sim.workload.Content;
import dev.kvasir.sim.workload.Request;

/** Reads the traces of SplitwiseSim: arrivals in seconds, sizes of prompts and of answers. */
final class SplitwiseReader implements RowReader {
  private static final long NANOS_PER_SECOND = 1_000_000_000;

  private final CsvRows rows;
  private final int time;
  private final int input;
  private final int output;
  private long index;

  SplitwiseReader(Lines lines) {
    rows = new CsvRows(lines);
    time = rows.column("arrival_timestamp");
    input = rows.column("prompt_size");
    output = rows.column("token_size");
  }

  @Override
  public @Nullable Request next() {
    if (!rows.next()) return null;
    long arrival = rows.nanos(time, NANOS_PER_SECOND);
    var content = Content.unique(index);
    return Request.of(
        RowReader.id(index++), arrival, rows.tokens(input, 1), rows.tokens(output, 0), content);
  }
}
