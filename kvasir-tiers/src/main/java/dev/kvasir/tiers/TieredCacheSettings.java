package dev.kvasir.tiers;

import dev.kvasir.Nullable;
import dev.kvasir.Records;
import dev.kvasir.kv.event.Tier;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;

/**
 * The tiers that engines share below their own memory.
 *
 * @param host through whose memory all that lies below passes; of 0 blocks for no tiers at all
 * @param lower the tiers below host memory, from the top down; one for each {@link Tier} at most
 */
public record TieredCacheSettings(HostTier host, List<TierConfig.Below> lower) {
  public static final TieredCacheSettings DEFAULT =
      new TieredCacheSettings(HostTier.DEFAULT, List.of(DiskTier.DEFAULT));

  public TieredCacheSettings {
    lower = lower.stream().filter(each -> each.blocks() > 0).toList();
    if (host.blocks() == 0 && lower.stream().anyMatch(each -> each instanceof TierConfig.Shared)) {
      throw new IllegalArgumentException(
          "remote and object tiers stand below host memory: give that some blocks too");
    }
    if (lower.stream().map(TierConfig::tier).distinct().count() < lower.size()) {
      throw new IllegalArgumentException(words(tiers(lower)) + " names a tier twice");
    }
  }

  /** Host memory and a disk of so many blocks; 0 stands for none. */
  public static TieredCacheSettings of(int hostBlocks, int diskBlocks) {
    return new TieredCacheSettings(
        Records.with(HostTier.DEFAULT, "blocks", hostBlocks),
        List.of(Records.with(DiskTier.DEFAULT, "blocks", diskBlocks)));
  }

  /** These and one more, which stands above all slower ones. */
  public TieredCacheSettings with(TierConfig.Below other) {
    var all = new ArrayList<>(lower);
    all.add(other);
    all.sort(Comparator.comparing(TierConfig::tier));
    return new TieredCacheSettings(host, all);
  }

  /** These, as they stand in that list of all tiers from the top down. */
  public TieredCacheSettings inOrder(List<Tier> order) {
    requireOrder(order);
    for (var each : lower) {
      if (!order.contains(each.tier())) {
        throw new IllegalArgumentException(
            "order %s leaves out %s: name it there, or do without that tier"
                .formatted(words(order), each.tier().word()));
      }
    }
    var all = new ArrayList<>(lower);
    all.sort(Comparator.comparingInt(each -> order.indexOf(each.tier())));
    return new TieredCacheSettings(host, all);
  }

  private static void requireOrder(List<Tier> order) {
    if (order.contains(Tier.DEVICE)) {
      throw new IllegalArgumentException(
          "order %s: each engine has its device memory above these, leave it out"
              .formatted(words(order)));
    }
    if (order.isEmpty() || order.getFirst() != Tier.HOST) {
      throw new IllegalArgumentException(
          "order %s: host comes first, since all that lies below passes through its memory"
              .formatted(words(order)));
    }
    if (EnumSet.copyOf(order).size() < order.size()) {
      throw new IllegalArgumentException("order %s names a tier twice".formatted(words(order)));
    }
  }

  public boolean hasHost() {
    return host.blocks() > 0;
  }

  /** The tiers below host memory that are there, from the top down. */
  public List<TierConfig.Below> below() {
    return hasHost() ? lower : List.of();
  }

  /** The tier at that level below host memory; null where there is none. */
  public TierConfig.@Nullable Below on(Tier tier) {
    for (var each : below()) if (each.tier() == tier) return each;
    return null;
  }

  public boolean hasDisk() {
    return on(Tier.DISK) != null;
  }

  private static List<Tier> tiers(List<? extends TierConfig> configs) {
    return configs.stream().map(TierConfig::tier).toList();
  }

  private static String words(List<Tier> tiers) {
    return tiers.stream().map(Tier::word).toList().toString();
  }
}
