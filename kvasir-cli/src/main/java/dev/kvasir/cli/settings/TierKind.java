package dev.kvasir.cli.settings;

import dev.kvasir.kv.event.Tier;
import dev.kvasir.tiers.DiskTier;
import dev.kvasir.tiers.HostTier;
import dev.kvasir.tiers.ObjectTier;
import dev.kvasir.tiers.RemoteTier;
import dev.kvasir.tiers.TierConfig;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** The kinds of tiers that a deployment may list, from the fastest down. */
public enum TierKind {
  HOST(HostTier.DEFAULT, "pcie5-x16"),
  DISK(DiskTier.DEFAULT, "nvme-gen4"),
  REMOTE(RemoteTier.DEFAULT, "redis-25gbe"),
  OBJECT(ObjectTier.DEFAULT, "s3-same-region");

  @SuppressWarnings("ImmutableEnumChecker") // All records of settings are immutable.
  private final TierConfig template;

  private final String link;

  TierKind(TierConfig template, String link) {
    this.template = template;
    this.link = link;
  }

  /** Its name in files, options, JSON and metrics. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  public static List<String> words() {
    return Arrays.stream(values()).map(TierKind::word).toList();
  }

  public Tier tier() {
    return template.tier();
  }

  /** The settings of such a tier where nothing is written. */
  TierConfig template() {
    return template;
  }

  /** The link that the simulator takes where nothing is written. */
  public String link() {
    return link;
  }
}
