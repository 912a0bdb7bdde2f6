package dev.kvasir.model.compute;

import static java.lang.System.Logger.Level.INFO;
import static java.lang.System.Logger.Level.WARNING;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;

/**
 * The arithmetic of the model: with the Vector API, or in plain loops.
 *
 * <p>Both give the same bits. Every sum has a fixed order: products along the depth, values along
 * the positions, sums over a row as 16 partial sums that {@link Lanes#sum} adds. So a result
 * depends only on the row: not on the batch, the chunk, the thread, or the width of the vectors.
 */
public sealed interface Kernels permits VectorKernels, ScalarKernels {
  /** So many queries attend at once, and read each key and value once for all of them. */
  int QUERIES_MAX = 4;

  /** The best there is on this machine, and a line in the log that says which. */
  static Kernels best() {
    var log = System.getLogger(Kernels.class.getName());
    boolean isLoaded = VectorModule.isLoaded();
    if (!isLoaded || !compilesWell()) {
      log.log(
          WARNING,
          "the model computes without the Vector API, several times slower: start java {0}",
          isLoaded ? "without -XX:TieredStopAtLevel" : "with --add-modules jdk.incubator.vector");
      return new ScalarKernels();
    }
    var kernels = new VectorKernels();
    log.log(INFO, "the model computes {0} numbers at once with the Vector API", kernels.lanes());
    return kernels;
  }

  /**
   * Lower compilation tiers allocate an object for every vector, which is slower than plain loops.
   */
  private static boolean compilesWell() {
    try {
      var machine = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
      var level = machine.getVMOption("TieredStopAtLevel").getValue();
      return level.equals("4");
    } catch (IllegalArgumentException unknown) {
      return true;
    }
  }

  /** Returns how many floats a vector has: at most 16, and 16 is a multiple of it. */
  int lanes();

  /**
   * Multiplies one strip of the matrix with each of the tokens from the first on.
   *
   * @param x the tokens, each of the matrix' depth, one after the other
   * @param out the outputs of the tokens, as many as the matrix has for each
   */
  void multiply(PackedMatrix matrix, int strip, float[] x, int first, int tokens, float[] out);

  /** Writes {@code x / rms(x) * weight * scale}. */
  void normalize(Norm norm, float[] x, int from, float scale, float[] out, int to);

  /**
   * The dot products of some queries with the keys of all positions of the view.
   *
   * @param queries where each of them begins in {@code x}, at most {@link #QUERIES_MAX}
   * @param stride how far behind those of one query the scores of the next begin; a multiple of 64
   *     that is no less than the positions
   */
  void scores(KvView view, float[] x, int[] queries, float[] scores, int stride);

  /**
   * Makes probabilities of so many scores, but for a factor.
   *
   * @return the sum, by which they are yet to be divided
   */
  float softmax(float[] scores, int from, int count);

  /**
   * For some queries, the sum of the values of all positions of the view, each times its weight,
   * and all times the query's factor.
   *
   * @param weights as the scores stand; zero where a query does not attend
   * @param to where the sum of each of them begins in {@code out}
   */
  void values(KvView view, float[] weights, int stride, float[] factors, float[] out, int[] to);

  /** Writes {@code silu(gate) * up * scale} over so many numbers. */
  void gate(float[] gate, int from, int up, int count, float scale, float[] out, int to);

  /** Adds so many numbers to others. */
  void add(float[] sum, int to, float[] more, int from, int count);

  /**
   * A normalization: its weights, and what keeps it from dividing by zero.
   *
   * @param weights not to be changed; their number is the row's, a multiple of 16
   */
  @SuppressWarnings("ArrayRecordComponent")
  record Norm(float[] weights, float epsilon) {}

  /**
   * Keys or values of one sequence, one layer and one head.
   *
   * @param memory all blocks
   * @param blocks where each block of the sequence begins in the memory, in bytes
   * @param offset how far behind the beginning of a block the keys (or values) stand
   * @param dimension how many numbers a key has, a multiple of 32
   * @param positions how many positions there are to attend to
   */
  @SuppressWarnings("ArrayRecordComponent")
  record KvView(MemorySegment memory, long[] blocks, long offset, int dimension, int positions) {}
}
