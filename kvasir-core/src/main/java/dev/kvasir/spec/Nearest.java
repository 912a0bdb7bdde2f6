package dev.kvasir.spec;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/** Suggests the known word that is nearest to a misspelt one. */
public final class Nearest {
  private Nearest() {}

  /** The nearest word, unless it is too different. */
  public static Optional<String> to(String written, Collection<String> known) {
    return known.stream()
        .filter(word -> plausible(written, word))
        .min(
            Comparator.<String>comparingInt(word -> distance(written, word))
                .thenComparing(Comparator.naturalOrder()));
  }

  private static boolean plausible(String written, String word) {
    boolean beginning = written.length() > 1 && word.startsWith(written);
    return beginning || distance(written, word) <= Math.max(written.length(), word.length()) / 3;
  }

  /** Returns how many letters to insert, drop, change or swap with their neighbour. */
  static int distance(String from, String to) {
    int[][] distances = new int[from.length() + 1][to.length() + 1];
    for (int row = 0; row <= from.length(); row++) {
      for (int column = 0; column <= to.length(); column++) {
        distances[row][column] =
            row == 0 || column == 0 ? row + column : step(distances, from, to, row, column);
      }
    }
    return distances[from.length()][to.length()];
  }

  private static int step(int[][] distances, String from, String to, int row, int column) {
    int change = from.charAt(row - 1) == to.charAt(column - 1) ? 0 : 1;
    int least =
        Math.min(
            distances[row - 1][column - 1] + change,
            1 + Math.min(distances[row - 1][column], distances[row][column - 1]));
    boolean swapped =
        row > 1
            && column > 1
            && from.charAt(row - 1) == to.charAt(column - 2)
            && from.charAt(row - 2) == to.charAt(column - 1);
    return swapped ? Math.min(least, distances[row - 2][column - 2] + 1) : least;
  }
}
