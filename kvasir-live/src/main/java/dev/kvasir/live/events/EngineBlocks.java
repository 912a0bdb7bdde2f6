package dev.kvasir.live.events;

import dev.kvasir.Nullable;
import dev.kvasir.kv.event.KvEvent;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.BlockHasher;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.kv.name.TokenSequence;
import dev.kvasir.live.events.EngineEvent.KeyPart;
import dev.kvasir.router.index.KvFeed;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Gives an engine's blocks the names that requests give them: made from their tokens, whatever the
 * engine's own hashes are made from.
 *
 * <p>What cannot be placed is left out and counted by its {@link DropReason}. When it knows too
 * many blocks, those that were not heard of for longest count as removed. Belongs to one loop.
 *
 * <p>An engine may have a block in its memory twice, and tells of each copy that it was stored and
 * that it was removed: the block is there until the last copy is gone.
 */
public final class EngineBlocks implements KvFeed.Target<EngineEvent> {
  /** Makes the hasher for an adapter, empty for none, and a tenant's salt, empty for none. */
  @FunctionalInterface
  public interface Hashers {
    BlockHasher of(String adapter, String salt);
  }

  private static final class Known {
    final TokenBlock block;
    final BlockHasher hasher;
    final @Nullable Integer group;

    /** The tiers it is on, as bits. */
    int tiers;

    /** How many times the engine has it in its memory. */
    int copies;

    Known(TokenBlock block, BlockHasher hasher, @Nullable Integer group) {
      this.block = block;
      this.hasher = hasher;
      this.group = group;
    }
  }

  private record Owner(String adapter, String salt) {}

  private static final int HASHERS_MAX = 256;
  private static final List<String> WHOLE_PROMPTS =
      List.of("full_attention", "mla_attention", "sink_full_attention");

  private final Hashers hashers;
  private final int blockTokens;
  private final int blocksMax;
  private final KvFeed.Target<KvEvent> target;

  /** Those that were heard of last come last. */
  private final LinkedHashMap<EngineHash, Known> known = new LinkedHashMap<>(16, 0.75f, true);

  private final LinkedHashMap<Owner, BlockHasher> owners = new LinkedHashMap<>(16, 0.75f, true);
  private final EnumMap<DropReason, Long> dropped = new EnumMap<>(DropReason.class);
  private final Consumer<DropReason> firstDrop;

  /** Knows no blocks at first, and tells nobody what it leaves out. */
  public EngineBlocks(
      Hashers hashers, int blockTokens, int blocksMax, KvFeed.Target<KvEvent> target) {
    this(hashers, blockTokens, blocksMax, target, _ -> {});
  }

  /**
   * Knows no blocks at first.
   *
   * @param blockTokens how many tokens a block has where requests are named
   * @param blocksMax how many blocks it may know
   * @param firstDrop is told of each reason when it occurs for the first time
   */
  public EngineBlocks(
      Hashers hashers,
      int blockTokens,
      int blocksMax,
      KvFeed.Target<KvEvent> target,
      Consumer<DropReason> firstDrop) {
    if (blockTokens < 1 || blocksMax < 1) {
      throw new IllegalArgumentException(blocksMax + " blocks of " + blockTokens + " tokens");
    }
    this.hashers = hashers;
    this.blockTokens = blockTokens;
    this.blocksMax = blocksMax;
    this.target = target;
    this.firstDrop = firstDrop;
  }

  /** How many blocks it knows. */
  public int size() {
    return known.size();
  }

  /** How many blocks were left out. */
  public long unplaced() {
    return dropped.values().stream().mapToLong(Long::longValue).sum();
  }

  /** How many blocks were left out, by reason. */
  public Map<DropReason, Long> dropped() {
    return new EnumMap<>(dropped);
  }

  private void drop(DropReason reason, int count) {
    if (count < 1) return;
    long before = dropped.getOrDefault(reason, 0L);
    dropped.put(reason, before + count);
    if (before == 0) firstDrop.accept(reason);
  }

  @Override
  public void on(EngineEvent event) {
    switch (event) {
      case EngineEvent.Stored stored -> store(stored);
      case EngineEvent.Removed removed -> remove(removed);
      case EngineEvent.Cleared _ -> forget();
    }
  }

  @Override
  public void forget() {
    known.clear();
    target.forget();
  }

  private void store(EngineEvent.Stored stored) {
    var tier = tier(stored.place());
    int count = stored.hashes().size();
    if (tier == null) drop(DropReason.MEDIUM, count);
    else if (!isWholePrompt(stored.group())) drop(DropReason.LAYERS, count);
    else if (stored.tokens().length == 0) copied(stored, tier);
    else computed(stored, tier);
  }

  /** Places blocks that are known by their hashes. */
  private void copied(EngineEvent.Stored stored, Tier tier) {
    for (var hash : stored.hashes()) {
      var block = known.get(hash);
      if (block == null) drop(DropReason.COPY, 1);
      else hold(block, tier);
    }
  }

  /** Places blocks by their tokens, from the first on. */
  private void computed(EngineEvent.Stored stored, Tier tier) {
    int count = stored.hashes().size();
    var before = stored.parent() == null ? null : known.get(stored.parent());
    if (stored.blockTokens() != blockTokens) {
      drop(DropReason.BLOCK_SIZE, count);
    } else if (stored.tokens().length != (long) count * blockTokens) {
      drop(DropReason.TOKEN_COUNT, count);
    } else if (before == null && stored.parent() != null) {
      drop(DropReason.PARENT, count);
    } else {
      computed(stored, tier, before);
    }
  }

  private void computed(EngineEvent.Stored stored, Tier tier, @Nullable Known parent) {
    int count = stored.hashes().size();
    var before = parent;
    for (int i = 0; i < count; i++) {
      var hash = stored.hashes().get(i);
      var block = known.get(hash);
      if (block == null) block = next(stored, i, before);
      if (block == null) {
        drop(reason(stored, before), count - i);
        break;
      }
      known.put(hash, block);
      hold(block, tier);
      before = block;
    }
    trim();
  }

  /** Why there was no next block. */
  private static DropReason reason(EngineEvent.Stored stored, @Nullable Known before) {
    if (stored.adapter().name() == null && stored.adapter().id() != null) return DropReason.ADAPTER;
    boolean isLong = before != null && before.block.position() + 1 >= TokenSequence.BLOCKS_MAX;
    return isLong ? DropReason.LENGTH : DropReason.EXTRA_KEYS;
  }

  private @Nullable Known next(EngineEvent.Stored stored, int index, @Nullable Known before) {
    var owner = owner(stored, index);
    int position = before == null ? 0 : before.block.position() + 1;
    if (owner == null || position >= TokenSequence.BLOCKS_MAX) return null;
    if (before != null && !owner.salt().isEmpty()) return null;
    var hasher = before == null ? hasher(owner) : before.hasher;
    var parent = before == null ? null : before.block.hash();
    int from = index * blockTokens;
    var name = hasher.hash(parent, stored.tokens(), from, from + blockTokens, List.of());
    return new Known(TokenBlock.named(name, parent, position), hasher, stored.group().index());
  }

  /** Whose block it is; null where its hash was made from what requests do not tell. */
  private static @Nullable Owner owner(EngineEvent.Stored stored, int index) {
    var name = stored.adapter().name();
    if (name == null && stored.adapter().id() != null) return null;
    var adapter = name == null ? "" : name;
    var salt = "";
    var parts =
        index < stored.extraKeys().size() ? stored.extraKeys().get(index) : List.<KeyPart>of();
    for (var part : parts) {
      if (!(part instanceof KeyPart.Text(var text))) return null;
      if (text.equals(adapter)) continue;
      if (!salt.isEmpty()) return null;
      salt = text;
    }
    return new Owner(adapter, salt);
  }

  private BlockHasher hasher(Owner owner) {
    var hasher = owners.computeIfAbsent(owner, _ -> hashers.of(owner.adapter(), owner.salt()));
    if (owners.size() > HASHERS_MAX) owners.pollFirstEntry();
    return hasher;
  }

  private void remove(EngineEvent.Removed removed) {
    var tier = tier(removed.place());
    if (tier == null) return;
    for (var hash : removed.hashes()) {
      var block = known.get(hash);
      // The engine may tell of blocks from before it was listened to.
      if (block == null) continue;
      if (removed.group() != null && !removed.group().equals(block.group)) continue;
      release(block, tier);
      if (block.tiers == 0) known.remove(hash);
    }
  }

  private void trim() {
    while (known.size() > blocksMax) {
      var oldest = known.pollFirstEntry().getValue();
      drop(DropReason.CAPACITY, 1);
      oldest.copies = Math.min(1, oldest.copies);
      for (var tier : Tier.values()) release(oldest, tier);
    }
  }

  private void hold(Known block, Tier tier) {
    if (tier == Tier.DEVICE) block.copies++;
    block.tiers |= 1 << tier.level();
    target.on(new KvEvent.Stored(tier, block.block));
  }

  private void release(Known block, Tier tier) {
    int bit = 1 << tier.level();
    if ((block.tiers & bit) == 0) return;
    if (tier == Tier.DEVICE && --block.copies > 0) return;
    block.tiers &= ~bit;
    target.on(new KvEvent.Removed(tier, block.block.hash()));
  }

  /** Blocks of other layers are dropped while their prompts are still wanted. */
  private static boolean isWholePrompt(EngineEvent.Group group) {
    return group.kind() == null || WHOLE_PROMPTS.contains(group.kind());
  }

  private static @Nullable Tier tier(EngineEvent.Place place) {
    return switch (place.medium()) {
      case null -> Tier.DEVICE;
      case "GPU" -> Tier.DEVICE;
      case "CPU", "CPU_PINNED" -> isElsewhere(place) ? Tier.REMOTE : Tier.HOST;
      case "STORAGE", "DISK" -> isElsewhere(place) ? Tier.OBJECT : Tier.DISK;
      case "EXTERNAL" -> Tier.OBJECT;
      default -> null;
    };
  }

  private static boolean isElsewhere(EngineEvent.Place place) {
    return "REMOTE".equals(place.locality());
  }
}
