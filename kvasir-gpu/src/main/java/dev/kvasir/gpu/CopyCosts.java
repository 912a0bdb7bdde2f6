package dev.kvasir.gpu;

/**
 * The cost of each way to copy on this machine, in one direction, for one piece of one size.
 *
 * <p>In nanoseconds for a piece, measured with as many pieces under way as the store has. A way
 * that does not work here costs {@link #NEVER}.
 *
 * @param linkNanos what the link needs for its bytes
 * @param callNanos of a copy of its own
 * @param stagedNanos by a kernel through GPU memory, side by side on the host
 * @param batchNanos by the call for many pieces
 * @param directNanos by a kernel, scattered on both sides
 */
public record CopyCosts(
    double linkNanos, double callNanos, double stagedNanos, double batchNanos, double directNanos) {
  public static final double NEVER = Double.POSITIVE_INFINITY;

  /** Time that a call for many pieces takes before the first moves. */
  private static final double BATCH_START_NANOS = 3_000;

  /** Time that a kernel takes before the first piece moves. */
  private static final double KERNEL_START_NANOS = 10_000;

  public CopyCosts {
    for (double nanos : new double[] {linkNanos, callNanos, stagedNanos, batchNanos, directNanos}) {
      if (!(nanos > 0)) {
        throw new IllegalArgumentException(
            "link %s, call %s, staged %s, batch %s, direct %s"
                .formatted(linkNanos, callNanos, stagedNanos, batchNanos, directNanos));
      }
    }
  }

  /** The cost of the blocks: the higher of the costs of bytes and of calls. */
  public double nanos(CopyWay way, CopyShape shape) {
    int pieces = shape.pieces();
    return switch (way) {
      case RUNS -> Math.max(pieces * linkNanos, (double) shape.runs() * shape.parts() * callNanos);
      case STAGED ->
          KERNEL_START_NANOS + Math.max(pieces * stagedNanos, shape.hostRuns() * callNanos);
      case BATCH -> BATCH_START_NANOS + pieces * batchNanos;
      case DIRECT -> KERNEL_START_NANOS + pieces * directNanos;
    };
  }
}
