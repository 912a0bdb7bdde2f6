package dev.kvasir.live.engine.tier;

import static java.util.Objects.requireNonNull;

import dev.kvasir.Nullable;
import dev.kvasir.kv.event.Tier;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;

/**
 * The tiers that engines share below their own memory; each may be missing.
 *
 * @param order how they stand, from the top down; those that are missing are passed over
 * @param remote null for none
 * @param object null for none
 */
public record LadderSettings(
    List<Tier> order,
    HostTier host,
    DiskTier disk,
    @Nullable RemoteTier remote,
    @Nullable ObjectTier object) {
  private static final List<Tier> ORDER_USUAL =
      List.of(Tier.HOST, Tier.DISK, Tier.REMOTE, Tier.OBJECT);

  public static final LadderSettings DEFAULT =
      new LadderSettings(ORDER_USUAL, HostTier.DEFAULT, DiskTier.DEFAULT, null, null);

  public LadderSettings {
    order = List.copyOf(order);
    requireOrder(order);
    if (host.blocks() == 0 && (remote != null || object != null)) {
      throw new IllegalArgumentException(
          "remote and object tiers stand below host memory: give that some blocks too");
    }
    for (var tier : ORDER_USUAL) {
      if (!order.contains(tier) && isThere(tier, disk, remote, object)) {
        throw new IllegalArgumentException(
            "order %s leaves out %s: name it there, or do without that tier"
                .formatted(words(order), word(tier)));
      }
    }
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

  /** Host memory and a disk of so many blocks; 0 stands for none. */
  public static LadderSettings of(int hostBlocks, int diskBlocks) {
    return new LadderSettings(
        ORDER_USUAL,
        HostTier.DEFAULT.withBlocks(hostBlocks),
        DiskTier.DEFAULT.withBlocks(diskBlocks),
        null,
        null);
  }

  public LadderSettings with(RemoteTier other) {
    return new LadderSettings(order, host, disk, other, object);
  }

  public LadderSettings with(ObjectTier other) {
    return new LadderSettings(order, host, disk, remote, other);
  }

  public LadderSettings inOrder(List<Tier> other) {
    return new LadderSettings(other, host, disk, remote, object);
  }

  public boolean hasHost() {
    return host.blocks() > 0;
  }

  /** Nothing can stand below host memory that is not there. */
  public boolean hasDisk() {
    return hasHost() && disk.blocks() > 0;
  }

  /** The tiers below host memory that are there, from the top down. */
  public List<Tier> below() {
    var below = new ArrayList<Tier>();
    for (var tier : order.subList(1, order.size())) {
      if (hasHost() && isThere(tier, disk, remote, object)) below.add(tier);
    }
    return below;
  }

  /** How blocks come to a tier that is there from the one above it. */
  EdgeSettings edge(Tier tier) {
    return switch (tier) {
      case DEVICE -> throw new IllegalArgumentException("nothing is above " + tier);
      case HOST -> host.edge();
      case DISK -> disk.edge();
      case REMOTE -> requireNonNull(remote, "no remote tier").edge();
      case OBJECT -> requireNonNull(object, "no object tier").edge();
    };
  }

  private static boolean isThere(
      Tier tier, DiskTier disk, @Nullable RemoteTier remote, @Nullable ObjectTier object) {
    return switch (tier) {
      case DEVICE, HOST -> true;
      case DISK -> disk.blocks() > 0;
      case REMOTE -> remote != null;
      case OBJECT -> object != null;
    };
  }

  private static String words(List<Tier> tiers) {
    return tiers.stream().map(LadderSettings::word).toList().toString();
  }

  private static String word(Tier tier) {
    return tier.name().toLowerCase(Locale.ROOT);
  }
}
