package dev.kvasir.sim.report;

/**
 * What an hour of hardware costs.
 *
 * @param gpu an hour of one GPU
 * @param hostGib an hour of a GiB of host memory
 * @param diskGib an hour of a GiB on disk
 * @param objectGib an hour of a GiB in object storage
 */
public record Prices(double gpu, double hostGib, double diskGib, double objectGib) {
  /** Counts hours of GPUs instead of money. */
  public static final Prices GPU_HOURS = new Prices(1, 0, 0, 0);

  public Prices {
    for (double price : new double[] {gpu, hostGib, diskGib, objectGib}) {
      if (!(price >= 0) || Double.isInfinite(price)) {
        throw new IllegalArgumentException("a price of " + price + "; it is 0 or more");
      }
    }
  }

  /** What a cost is counted in. */
  public String unit() {
    return equals(GPU_HOURS) ? "GPU-hours" : "cost";
  }
}
