package dev.kvasir.sim.report;

/**
 * The hardware that a run used, all instances together.
 *
 * @param bytesPerToken what the K and V of one token take; 0 where nobody knows
 */
public record Fleet(
    int gpus, long hostTokens, long diskTokens, long objectTokens, long bytesPerToken) {
  private static final double GIB = 1L << 30;

  public Fleet {
    if (gpus < 0 || hostTokens < 0 || diskTokens < 0 || objectTokens < 0 || bytesPerToken < 0) {
      throw new IllegalArgumentException(
          gpus + " GPUs, " + hostTokens + ", " + diskTokens + ", " + objectTokens + " tokens");
    }
  }

  /** How many tokens fit below the memory of the GPUs. */
  public long tokensBelow() {
    return hostTokens + diskTokens + objectTokens;
  }

  /** What it costs to have it for so long. */
  public double cost(double seconds, Prices prices) {
    double hourly =
        gpus * prices.gpu()
            + gib(hostTokens) * prices.hostGib()
            + gib(diskTokens) * prices.diskGib()
            + gib(objectTokens) * prices.objectGib();
    return hourly * seconds / 3600;
  }

  public double gibBelow() {
    return gib(tokensBelow());
  }

  private double gib(long tokens) {
    return tokens * (double) bytesPerToken / GIB;
  }
}
