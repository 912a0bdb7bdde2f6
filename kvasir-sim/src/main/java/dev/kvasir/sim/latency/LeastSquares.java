package dev.kvasir.sim.latency;

import java.util.Arrays;
import java.util.List;

/**
 * A sum of a few costs, none negative, that comes closest to what was measured.
 *
 * <p>The closest non-negative sum is the plain least-squares sum of some of the columns with the
 * others at nothing; with so few columns all choices are tried.
 */
final class LeastSquares {
  private static final int COLUMNS_MAX = 8;
  private static final double PIVOT_MIN = 1e-12;

  private final List<double[]> rows;
  private final double[] targets;
  private final int columns;
  private final double[] scales;
  private final double[][] products;
  private final double[] shares;

  /** Rows hold what each column contributes once; the targets are what they should sum to. */
  LeastSquares(List<double[]> rows, double[] targets) {
    this.rows = rows;
    this.targets = targets.clone();
    columns = rows.getFirst().length;
    if (columns > COLUMNS_MAX || rows.size() != targets.length) {
      throw new IllegalArgumentException(
          columns + " columns, " + rows.size() + " rows, " + targets.length + " targets");
    }
    // Columns of length one make the products comparable, whatever their units.
    scales = new double[columns];
    for (var row : rows) for (int i = 0; i < columns; i++) scales[i] += row[i] * row[i];
    for (int i = 0; i < columns; i++) scales[i] = scales[i] > 0 ? Math.sqrt(scales[i]) : 1;
    products = new double[columns][columns];
    shares = new double[columns];
    for (int r = 0; r < rows.size(); r++) {
      var row = rows.get(r);
      for (int i = 0; i < columns; i++) {
        double scaled = row[i] / scales[i];
        shares[i] += scaled * targets[r];
        for (int j = 0; j < columns; j++) products[i][j] += scaled * row[j] / scales[j];
      }
    }
  }

  /** The coefficients of the closest non-negative sum. */
  double[] solve() {
    double[] best = new double[columns];
    double least = squaredError(best);
    for (int choice = 1; choice < 1 << columns; choice++) {
      var coefficients = plain(choice);
      if (coefficients.length == 0) continue;
      if (Arrays.stream(coefficients).anyMatch(value -> value < 0)) continue;
      double error = squaredError(coefficients);
      if (error < least) {
        least = error;
        best = coefficients;
      }
    }
    return best;
  }

  /** The plain least-squares sum of the chosen columns; empty where they cannot be told apart. */
  private double[] plain(int choice) {
    int[] chosen = new int[Integer.bitCount(choice)];
    for (int i = 0, next = 0; i < columns; i++) if ((choice >> i & 1) == 1) chosen[next++] = i;
    int size = chosen.length;
    double[][] matrix = new double[size][size + 1];
    for (int i = 0; i < size; i++) {
      for (int j = 0; j < size; j++) matrix[i][j] = products[chosen[i]][chosen[j]];
      matrix[i][size] = shares[chosen[i]];
    }
    // The matrix is symmetric and positive, so elimination needs no exchange of rows.
    for (int i = 0; i < size; i++) {
      if (matrix[i][i] < PIVOT_MIN) return new double[0];
      for (int r = 0; r < size; r++) {
        if (r == i) continue;
        double factor = matrix[r][i] / matrix[i][i];
        for (int c = i; c <= size; c++) matrix[r][c] -= factor * matrix[i][c];
      }
    }
    double[] coefficients = new double[columns];
    for (int i = 0; i < size; i++) {
      coefficients[chosen[i]] = matrix[i][size] / matrix[i][i] / scales[chosen[i]];
    }
    return coefficients;
  }

  /** Returns what the coefficients predict for each row, less its target. */
  private double[] residuals(double[] coefficients) {
    double[] residuals = new double[targets.length];
    for (int r = 0; r < targets.length; r++) {
      double sum = 0;
      for (int i = 0; i < columns; i++) sum += coefficients[i] * rows.get(r)[i];
      residuals[r] = sum - targets[r];
    }
    return residuals;
  }

  private double squaredError(double[] coefficients) {
    double error = 0;
    for (double residual : residuals(coefficients)) error += residual * residual;
    return error;
  }
}
