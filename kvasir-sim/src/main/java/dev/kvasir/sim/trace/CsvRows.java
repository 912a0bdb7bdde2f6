package dev.kvasir.sim.trace;

import dev.kvasir.spec.Nearest;
import java.util.ArrayList;
import java.util.List;

/** Walks the rows of a table whose first line names its columns. */
final class CsvRows {
  private final TraceLines lines;
  private final Numbers numbers;
  private final List<String> header;
  private List<String> row = List.of();

  /** Takes the next line for the names of the columns. */
  CsvRows(TraceLines lines) {
    this.lines = lines;
    numbers = new Numbers(lines);
    if (!lines.next()) throw lines.error("the file is empty", "name a file that holds a trace");
    header = split(lines);
  }

  static List<String> split(TraceLines lines) {
    var text = lines.text();
    var fields = new ArrayList<String>();
    int at = 0;
    while (at <= text.length()) {
      if (at < text.length() && text.charAt(at) == '"') {
        at = quoted(lines, text, at + 1, fields);
      } else {
        int comma = text.indexOf(',', at);
        int fieldEnd = comma < 0 ? text.length() : comma;
        fields.add(text.substring(at, fieldEnd).strip());
        at = fieldEnd + 1;
      }
    }
    return fields;
  }

  /** Two quotes inside quotes stand for one; answers where the next field begins. */
  private static int quoted(TraceLines lines, String text, int from, List<String> fields) {
    var field = new StringBuilder();
    int at = from;
    while (at < text.length()) {
      char letter = text.charAt(at);
      boolean quote = letter == '"';
      if (quote && at + 1 < text.length() && text.charAt(at + 1) == '"') {
        at++;
      } else if (quote) {
        fields.add(field.toString());
        int comma = text.indexOf(',', at);
        return comma < 0 ? text.length() + 1 : comma + 1;
      }
      field.append(letter);
      at++;
    }
    throw lines.error(
        "a quote is opened and not closed",
        "the line may be cut off: remove it, or fetch the file again");
  }

  /** Returns the index of the column, and fails if there is none. */
  int column(String name) {
    int index = header.indexOf(name);
    if (index >= 0) return index;
    var meant = Nearest.to(name, header).map(near -> ", is '" + near + "' meant?").orElse("");
    throw lines.error(
        "there is no column '" + name + "'" + meant,
        "add or rename it (columns found: " + String.join(", ", header) + ")");
  }

  /** Returns the index of the column, or -1: its cells are then empty. */
  int columnIfAny(String name) {
    return header.indexOf(name);
  }

  boolean next() {
    if (!lines.next()) return false;
    row = split(lines);
    if (row.size() != header.size()) {
      throw lines.error(
          "the line has " + row.size() + " columns, and the header " + header.size(),
          "the line may be cut off: remove it, or fetch the file again");
    }
    return true;
  }

  String text(int column) {
    return column < 0 ? "" : row.get(column);
  }

  int tokens(int column, int tokensMin) {
    return numbers.tokens(name(column), text(column), tokensMin);
  }

  long nanos(int column, long unitNanos) {
    return numbers.nanos(name(column), text(column), unitNanos);
  }

  /** A length that may be left out, and is then 0. */
  int tokensIfAny(int column) {
    return text(column).isEmpty() ? 0 : tokens(column, 0);
  }

  /** A time that may be left out, and is then 0. */
  long nanosIfAny(int column, long unitNanos) {
    return text(column).isEmpty() ? 0 : nanos(column, unitNanos);
  }

  private String name(int column) {
    return column < 0 ? "" : header.get(column);
  }

  TraceError error(String problem, String remedy) {
    return lines.error(problem, remedy);
  }
}
