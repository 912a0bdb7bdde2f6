package dev.kvasir.events;

import dev.kvasir.Nullable;
import dev.kvasir.events.EngineEvent.KeyPart;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.BlockHasher;
import dev.kvasir.kv.name.TokenSequence;
import dev.kvasir.router.index.BlockUnits;
import dev.kvasir.router.index.BlockUnits.Block;
import dev.kvasir.router.index.KvFeed;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Gives an engine's blocks the names that requests give them: made from their tokens, whatever the
 * engine's own hashes are made from, and in the unit of the index, whatever size they have.
 *
 * <p>What cannot be placed is left out and counted by its {@link DropReason}. Belongs to one loop.
 */
public final class EngineBlocks implements KvFeed.Target<EngineEvent> {
  /** Makes the hasher for an adapter, empty for none, and a tenant's salt, empty for none. */
  @FunctionalInterface
  public interface Hashers {
    BlockHasher of(String adapter, String salt);
  }

  private record Owner(String adapter, String salt) {}

  private static final int HASHERS_MAX = 256;
  private static final List<String> WHOLE_PROMPTS =
      List.of("full_attention", "mla_attention", "sink_full_attention");
  private static final List<String> WINDOWS = List.of("sliding_window", "sliding_window_mla");

  /** Of layers with a state the last block is enough, as of a window of two tokens. */
  private static final int STATE_WINDOW = 2;

  private final Hashers hashers;
  private final int unitTokens;
  private final BlockUnits<EngineHash> units;
  private final LinkedHashMap<Owner, BlockHasher> owners = new LinkedHashMap<>(16, 0.75f, true);
  private final EnumMap<DropReason, Long> dropped = new EnumMap<>(DropReason.class);
  private final Consumer<DropReason> firstDrop;
  private Consumer<Block<EngineHash>> learned = _ -> {};

  /** Knows no blocks at first, and tells nobody what it leaves out. */
  public EngineBlocks(Hashers hashers, int unitTokens, int blocksMax, BlockUnits.Target target) {
    this(hashers, unitTokens, blocksMax, target, _ -> {});
  }

  /**
   * Knows no blocks at first.
   *
   * @param unitTokens how many tokens a block has where requests are named
   * @param blocksMax how many blocks of the engine it may know; when there are more, those that
   *     were not heard of for longest count as removed
   * @param firstDrop is told of each reason when it occurs for the first time
   */
  public EngineBlocks(
      Hashers hashers,
      int unitTokens,
      int blocksMax,
      BlockUnits.Target target,
      Consumer<DropReason> firstDrop) {
    this.hashers = hashers;
    this.unitTokens = unitTokens;
    this.units = new BlockUnits<>(unitTokens, blocksMax, target);
    this.firstDrop = firstDrop;
  }

  /** Sets the consumer that is told of all blocks whose tokens the engine tells, from now on. */
  public void whenLearned(Consumer<Block<EngineHash>> then) {
    learned = then;
  }

  /** Returns how many blocks the engine has. */
  public int size() {
    return units.size();
  }

  /** Returns how many blocks were left out. */
  public long unplaced() {
    return dropped.values().stream().mapToLong(Long::longValue).sum();
  }

  /** Returns how many blocks were left out, by reason. */
  public Map<DropReason, Long> dropped() {
    return new EnumMap<>(dropped);
  }

  private void drop(DropReason reason, long count) {
    if (count < 1) return;
    long before = dropped.getOrDefault(reason, 0L);
    dropped.put(reason, before + count);
    if (before == 0) firstDrop.accept(reason);
  }

  /**
   * Returns what is known of the engine, for another listener; to be called on the loop.
   *
   * @param position how far the events have been taken in
   */
  EngineSnapshot snapshot(KvFeed.Position position) {
    return new EngineSnapshot(position, units.image(EngineSnapshot.BLOCKS_MAX));
  }

  /** Knows what the snapshot says and nothing else. */
  void restore(EngineSnapshot snapshot) {
    units.restore(snapshot.image(), learned);
    units.trim();
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
    units.clear();
  }

  private void store(EngineEvent.Stored stored) {
    var tier = tier(stored.place());
    var group = group(stored.group());
    int count = stored.hashes().size();
    if (tier == null) {
      drop(DropReason.MEDIUM, count);
    } else if (group == null) {
      drop(DropReason.LAYERS, count);
    } else if (stored.tokens().length == 0) {
      known(stored, group, tier, DropReason.COPY);
    } else if (stored.tokens().length != (long) count * stored.blockTokens()) {
      // Of a window an engine tells only the blocks that it keeps, with the tokens of all.
      var reason = group.windowTokens() == 0 ? DropReason.TOKEN_COUNT : DropReason.LAYERS;
      known(stored, group, tier, reason);
    } else {
      computed(stored, group, tier);
    }
    long before = units.trimmed();
    units.trim();
    drop(DropReason.CAPACITY, units.trimmed() - before);
  }

  /** Places blocks that are known by their hashes. */
  private void known(
      EngineEvent.Stored stored, BlockUnits.Group group, Tier tier, DropReason otherwise) {
    for (var hash : stored.hashes()) {
      var block = units.find(hash);
      if (block == null || !units.hold(block, group, tier)) drop(otherwise, 1);
    }
  }

  /** Places blocks by their tokens, from the first on. */
  private void computed(EngineEvent.Stored stored, BlockUnits.Group group, Tier tier) {
    int count = stored.hashes().size();
    var before = stored.parent() == null ? null : units.find(stored.parent());
    if (before == null && stored.parent() != null) {
      drop(DropReason.PARENT, count);
      return;
    }
    Owner owner = null;
    for (int i = 0; i < count; i++) {
      // Without extra keys all blocks have one owner.
      if (i == 0 || !stored.extraKeys().isEmpty()) owner = owner(stored, i);
      var hash = stored.hashes().get(i);
      var reason = reason(stored, hash, before, owner);
      if (reason != null) {
        drop(reason, count - i);
        return;
      }
      var block = units.at(place(stored, i, hash, before, owner));
      learned.accept(block);
      if (!units.hold(block, group, tier)) drop(DropReason.LAYERS, 1);
      before = block;
    }
  }

  private BlockUnits.Place<EngineHash> place(
      EngineEvent.Stored stored,
      int index,
      EngineHash hash,
      @Nullable Block<EngineHash> before,
      @Nullable Owner owner) {
    var hasher = before == null && owner != null ? hasher(owner) : hasherOf(before);
    int from = index * stored.blockTokens();
    int to = from + stored.blockTokens();
    return new BlockUnits.Place<>(hash, before, hasher, stored.tokens(), from, to);
  }

  private static BlockHasher hasherOf(@Nullable Block<EngineHash> before) {
    if (before == null) throw new IllegalStateException("a first block that nobody owns");
    return before.hasher();
  }

  /** Returns why there is no place for the block; null where there is one. */
  private @Nullable DropReason reason(
      EngineEvent.Stored stored,
      EngineHash hash,
      @Nullable Block<EngineHash> before,
      @Nullable Owner owner) {
    long end = (before == null ? 0L : before.end()) + stored.blockTokens();
    if (end > (long) TokenSequence.BLOCKS_MAX * unitTokens) return DropReason.LENGTH;
    var known = units.find(hash);
    if (known != null) return known.end() == end ? null : DropReason.CONFLICT;
    if (stored.adapter().name() == null && stored.adapter().id() != null) return DropReason.ADAPTER;
    if (owner == null || (before != null && !owner.salt().isEmpty())) return DropReason.EXTRA_KEYS;
    return null;
  }

  /** Returns whose block it is; null where its hash was made from what requests do not tell. */
  private static @Nullable Owner owner(EngineEvent.Stored stored, int index) {
    var name = stored.adapter().name();
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
    int group = removed.group() == null ? units.firstWhole() : removed.group();
    for (var hash : removed.hashes()) {
      var block = units.find(hash);
      // The engine may tell of blocks from before it was listened to.
      if (block != null) units.release(block, group, tier);
    }
  }

  /** The group as the units follow it; null where its blocks do not say what can be used. */
  private BlockUnits.@Nullable Group group(EngineEvent.Group group) {
    int index = group.index() == null ? Math.max(0, units.firstWhole()) : group.index();
    if (group.kind() == null || WHOLE_PROMPTS.contains(group.kind())) {
      return new BlockUnits.Group(index, 0);
    }
    if (group.kind().equals("mamba")) return new BlockUnits.Group(index, STATE_WINDOW);
    if (!WINDOWS.contains(group.kind()) || group.window() == null) return null;
    return new BlockUnits.Group(index, Math.max(STATE_WINDOW, group.window()));
  }

  /** The tier of the index that the place stands for; null where it is not known. */
  public static @Nullable Tier tier(EngineEvent.Place place) {
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
