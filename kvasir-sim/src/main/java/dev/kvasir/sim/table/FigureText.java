package dev.kvasir.sim.table;

import java.util.Locale;

/** Figures for a terminal, each line with its name in front. */
public final class FigureText {
  private static final int NAME_CHARS = 12;

  private final StringBuilder text = new StringBuilder();

  /** Adds a line; the name of one that continues the line above is empty. */
  @SuppressWarnings("AnnotateFormatMethod") // the annotation would be a dependency
  public void line(String name, String format, Object... values) {
    text.append(name).repeat(' ', Math.max(1, NAME_CHARS - name.length()));
    add(format + "\n", values);
  }

  /** Adds a line of a table: a name, and figures below each other. */
  public void figures(String name, double... figures) {
    add("%-" + NAME_CHARS + "s", name);
    for (double figure : figures) add("%,12.1f", figure);
    text.append('\n');
  }

  @SuppressWarnings("AnnotateFormatMethod") // the annotation would be a dependency
  public void add(String format, Object... values) {
    text.append(String.format(Locale.ROOT, format, values));
  }

  @Override
  public String toString() {
    return text.toString();
  }
}
