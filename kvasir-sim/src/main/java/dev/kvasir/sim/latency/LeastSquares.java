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
  private static final int ROTATIONS_MAX = 100;
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
  double[] residuals(double[] coefficients) {
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

  /** Returns the mean of the targets. */
  double meanTarget() {
    return Arrays.stream(targets).sum() / targets.length;
  }

  /** Returns how much of the targets' variance the coefficients explain: 1 all of it, 0 none. */
  double explained(double[] coefficients) {
    double mean = meanTarget();
    double variance = 0;
    for (double target : targets) variance += (target - mean) * (target - mean);
    double error = squaredError(coefficients);
    if (variance == 0) return error == 0 ? 1 : 0;
    return 1 - error / variance;
  }

  /** Returns how far small errors in the targets may be magnified; infinite if columns coincide. */
  double condition() {
    double[][] matrix = Arrays.stream(products).map(double[]::clone).toArray(double[][]::new);
    for (int round = 0; round < ROTATIONS_MAX; round++) {
      int row = 0;
      int column = 1;
      for (int i = 0; i < columns; i++) {
        for (int j = i + 1; j < columns; j++) {
          if (Math.abs(matrix[i][j]) > Math.abs(matrix[row][column])) {
            row = i;
            column = j;
          }
        }
      }
      if (columns < 2 || Math.abs(matrix[row][column]) < PIVOT_MIN) break;
      rotate(matrix, row, column);
    }
    double least = Double.POSITIVE_INFINITY;
    double most = 0;
    for (int i = 0; i < columns; i++) {
      least = Math.min(least, matrix[i][i]);
      most = Math.max(most, matrix[i][i]);
    }
    return least <= PIVOT_MIN ? Double.POSITIVE_INFINITY : Math.sqrt(most / least);
  }

  /** One rotation of Jacobi's method: makes the two entries off the diagonal nothing. */
  private void rotate(double[][] matrix, int p, int q) {
    double theta = (matrix[q][q] - matrix[p][p]) / (2 * matrix[p][q]);
    double tangent = Math.copySign(1, theta) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
    double cosine = 1 / Math.sqrt(tangent * tangent + 1);
    double sine = tangent * cosine;
    for (int i = 0; i < columns; i++) {
      double left = matrix[i][p];
      double right = matrix[i][q];
      matrix[i][p] = cosine * left - sine * right;
      matrix[i][q] = sine * left + cosine * right;
    }
    for (int i = 0; i < columns; i++) {
      double upper = matrix[p][i];
      double lower = matrix[q][i];
      matrix[p][i] = cosine * upper - sine * lower;
      matrix[q][i] = sine * upper + cosine * lower;
    }
  }
}
