package dev.kvasir.cli.settings;

import dev.kvasir.Nullable;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.sim.cost.Prices;
import dev.kvasir.sim.cost.TierPrice;
import java.util.List;

/**
 * Costs of a deployment, in any currency.
 *
 * @param gpuHour a GPU for an hour; null to count hours of GPUs instead of money
 * @param hostGibHour a GiB of host memory for an hour
 * @param diskGibHour a GiB of disk for an hour
 * @param remoteGibHour a GiB of a remote server's memory for an hour
 * @param objectGibHour a GiB of object storage for an hour
 * @param objectWrites a thousand requests that write to it
 * @param objectReads a thousand requests that read from it
 * @param objectRequestBlocks how many blocks such a request carries
 */
public record CostSettings(
    @Nullable Double gpuHour,
    double hostGibHour,
    double diskGibHour,
    double remoteGibHour,
    double objectGibHour,
    double objectWrites,
    double objectReads,
    int objectRequestBlocks) {
  public static final CostSettings DEFAULT = new CostSettings(null, 0, 0, 0, 0, 0, 0, 1);

  public CostSettings {
    var prices =
        tiers(
            hostGibHour,
            diskGibHour,
            remoteGibHour,
            objectGibHour,
            objectWrites,
            objectReads,
            objectRequestBlocks);
    if (gpuHour == null && !new Prices(0, prices).tiers().isEmpty()) {
      throw new IllegalArgumentException(
          "the price of memory says little without that of a GPU: set gpu-hour, too");
    }
  }

  private static List<TierPrice> tiers(
      double host,
      double disk,
      double remote,
      double object,
      double writes,
      double reads,
      int blocks) {
    return List.of(
        TierPrice.room(Tier.HOST, host),
        TierPrice.room(Tier.DISK, disk),
        TierPrice.room(Tier.REMOTE, remote),
        new TierPrice(Tier.OBJECT, object, writes, reads, blocks));
  }

  public Prices prices() {
    if (gpuHour == null) return Prices.GPU_HOURS;
    return new Prices(
        gpuHour,
        tiers(
            hostGibHour,
            diskGibHour,
            remoteGibHour,
            objectGibHour,
            objectWrites,
            objectReads,
            objectRequestBlocks));
  }
}
