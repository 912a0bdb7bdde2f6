package dev.kvasir.sim.trace;

import dev.kvasir.Nullable;
import dev.kvasir.sim.workload.Content;
import dev.kvasir.sim.workload.Request;
import java.time.DateTimeException;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;

/** Reads Azure's traces of LLM inference: a date and two lengths. */
final class AzureReader implements RowReader {
  private static final long NANOS_PER_SECOND = 1_000_000_000;

  private final CsvRows rows;
  private final int time;
  private final int input;
  private final int output;
  private long index;

  AzureReader(TraceLines lines) {
    rows = new CsvRows(lines);
    time = rows.column("TIMESTAMP");
    input = rows.column("ContextTokens");
    output = rows.column("GeneratedTokens");
  }

  @Override
  public @Nullable Request next() {
    if (!rows.next()) return null;
    long arrival = nanos(rows.text(time));
    var content = Content.unique(index);
    return Request.of(
        RowReader.id(index++), arrival, rows.tokens(input, 1), rows.tokens(output, 0), content);
  }

  private long nanos(String text) {
    var dated = text.replace(' ', 'T');
    try {
      boolean offset = dated.endsWith("Z") || dated.lastIndexOf('+') > 0;
      var date =
          offset
              ? OffsetDateTime.parse(dated)
              : LocalDateTime.parse(dated).atOffset(ZoneOffset.UTC);
      int year = date.getYear();
      if (year >= 1970 && year <= 2100) {
        return date.toEpochSecond() * NANOS_PER_SECOND + date.getNano();
      }
    } catch (DateTimeException _) {
      throw noDate(text);
    }
    throw noDate(text);
  }

  private TraceError noDate(String text) {
    return rows.error(
        "TIMESTAMP is '" + text + "'",
        "a time such as 2023-11-16 18:17:03.9799600 is needed: correct or remove the line");
  }
}
