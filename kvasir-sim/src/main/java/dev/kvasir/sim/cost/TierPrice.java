package dev.kvasir.sim.cost;

import dev.kvasir.kv.event.Tier;

/**
 * Prices of a tier.
 *
 * @param gibHour an hour of a GiB on it
 * @param thousandWrites a thousand requests that write, where they are paid for
 * @param thousandReads a thousand requests that read
 * @param requestBlocks how many blocks a request carries
 */
public record TierPrice(
    Tier tier, double gibHour, double thousandWrites, double thousandReads, int requestBlocks) {
  public TierPrice {
    for (double price : new double[] {gibHour, thousandWrites, thousandReads}) Prices.check(price);
    if (requestBlocks < 1) {
      throw new IllegalArgumentException("requests of " + requestBlocks + " blocks, at least 1");
    }
  }

  /** A tier where only the room is paid for. */
  public static TierPrice room(Tier tier, double gibHour) {
    return new TierPrice(tier, gibHour, 0, 0, 1);
  }

  boolean isNothing() {
    return gibHour == 0 && thousandWrites == 0 && thousandReads == 0;
  }

  public double requests(long blocksStored, long blocksLoaded) {
    double writes = Math.ceilDiv(blocksStored, requestBlocks) * thousandWrites;
    double reads = Math.ceilDiv(blocksLoaded, requestBlocks) * thousandReads;
    return (writes + reads) / 1000;
  }
}
