package dev.kvasir.sim.calibrate;

/** Small symmetric matrices that are positive definite, by Cholesky's way. */
final class Matrix {
  private Matrix() {}

  /** The lower triangle whose product with its own transpose is the matrix. */
  static double[][] root(double[][] matrix) {
    int count = matrix.length;
    var root = new double[count][count];
    for (int i = 0; i < count; i++) {
      for (int j = 0; j <= i; j++) {
        double sum = matrix[i][j];
        for (int k = 0; k < j; k++) sum -= root[i][k] * root[j][k];
        if (i == j) root[i][i] = Math.sqrt(Math.max(1e-12, sum));
        else root[i][j] = sum / root[j][j];
      }
    }
    return root;
  }

  static double[] solve(double[][] matrix, double[] right) {
    var root = root(matrix);
    int count = right.length;
    var x = right.clone();
    for (int i = 0; i < count; i++) {
      for (int k = 0; k < i; k++) x[i] -= root[i][k] * x[k];
      x[i] /= root[i][i];
    }
    for (int i = count - 1; i >= 0; i--) {
      for (int k = i + 1; k < count; k++) x[i] -= root[k][i] * x[k];
      x[i] /= root[i][i];
    }
    return x;
  }

  static double[][] inverse(double[][] matrix) {
    int count = matrix.length;
    var inverse = new double[count][];
    for (int i = 0; i < count; i++) {
      var unit = new double[count];
      unit[i] = 1;
      inverse[i] = solve(matrix, unit);
    }
    return inverse;
  }
}
