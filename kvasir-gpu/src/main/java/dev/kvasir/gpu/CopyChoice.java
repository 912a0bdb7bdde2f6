package dev.kvasir.gpu;

/**
 * The way to copy some blocks, and its expected cost.
 *
 * @param nanos what it costs by the measurements
 */
public record CopyChoice(CopyWay way, double nanos) {
  /**
   * A kernel is used only if it saves this share: it uses the GPU's processors and slows other
   * kernels, which the copy engines do not.
   */
  private static final double KERNEL_GAIN_MIN = 0.03;

  /** The cheapest way for these blocks; of equal ones the one that comes first. */
  public static CopyChoice of(CopyCosts costs, CopyShape shape) {
    CopyChoice best = new CopyChoice(CopyWay.RUNS, costs.nanos(CopyWay.RUNS, shape));
    for (var way : new CopyWay[] {CopyWay.BATCH, CopyWay.STAGED, CopyWay.DIRECT}) {
      double nanos = costs.nanos(way, shape);
      double enough = way == CopyWay.BATCH ? best.nanos : best.nanos * (1 - KERNEL_GAIN_MIN);
      if (nanos < enough) best = new CopyChoice(way, nanos);
    }
    return best;
  }
}
