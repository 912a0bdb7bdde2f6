package dev.kvasir.router.index;

import dev.kvasir.Nullable;
import dev.kvasir.kv.event.KvEvent;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.BlockHasher;
import dev.kvasir.kv.name.TokenBlock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Converts the blocks of one engine, of any size, into units: blocks of the size that the index
 * uses for requests.
 *
 * <pre>
 *   blocks of 32   |---------------|---------------|   each holds two units
 *   units of 16    |-------|-------|-------|-------|
 *   pages of 4     |-|-|-|-|-|-|-|-|                   a unit is there when all its pages are
 *   blocks of 24   |-----------|-----------|           the second unit needs both blocks
 * </pre>
 *
 * <p>A unit may be part of several blocks: it exists until the last of them is gone. A dropped
 * block is remembered as long as others follow it, since their units may need its tokens when it
 * comes back.
 *
 * <p>A model may keep its layers in groups, each with blocks of its own. Groups that keep whole
 * prompts must all have a block. In a group that keeps only a window, a prompt can be continued
 * where the blocks of its last window exist: these places are reported to the index as ends.
 * Belongs to one loop.
 *
 * @param <K> what the engine calls a block
 */
public final class BlockUnits<K> {
  /** Takes the units of one instance, and where its prompts can be continued if it asks for it. */
  public interface Target extends KvFeed.Target<KvEvent> {
    /** Cached tokens come in multiples of this number. */
    default void grain(int tokens) {}

    /** From now on a prompt can be continued only behind units that are named as ends. */
    default void needsEnds() {}

    /** A prompt can be continued behind the unit. */
    default void end(BlockHash unit) {}

    /** A prompt can no longer be continued behind the unit. */
    default void noEnd(BlockHash unit) {}
  }

  /**
   * A group of layers.
   *
   * @param index the engine's number for it
   * @param windowTokens how many tokens it looks back; 0 where it keeps whole prompts
   */
  public record Group(int index, int windowTokens) {
    public Group {
      if (windowTokens < 0) throw new IllegalArgumentException("a window of " + windowTokens);
    }

    boolean isWhole() {
      return windowTokens == 0;
    }
  }

  /** A block of the engine: its place in the prompt, and its holders. */
  public static final class Block<K> {
    private static final int[] NO_TOKENS = {};
    private static final byte[] NO_TIERS = {};
    private static final BlockHash[] NO_UNITS = {};

    private final K key;
    private final BlockHasher hasher;
    private final int length;
    private final int end;

    /** The unit before the first one that ends in this block. */
    private final @Nullable BlockHash before;

    /** The units that end in this block. */
    private final BlockHash[] units;

    /** Its tokens behind the last border of units. */
    private final int[] tail;

    private @Nullable Block<K> parent;
    private @Nullable Block<K> child;
    private @Nullable Block<K> older;
    private @Nullable Block<K> younger;

    /** For each group its tiers as bits. */
    private byte[] tiers = NO_TIERS;

    /** For each group how many times the engine has it in its memory. */
    private int[] copies = NO_TOKENS;

    /** For each group with a window the tokens up to its end that are there in a row. */
    private int[] runs = NO_TOKENS;

    /**
     * The tiers where all groups with whole prompts have it, and where they have what its first
     * unit needs before it, as they were reported.
     */
    private int whole;

    private int open;
    private boolean isEnd;

    /** Its place in the last image. */
    private int imageIndex;

    private Block(UnitImage.Saved<K> saved, @Nullable Block<K> parent) {
      this.key = saved.key();
      this.hasher = saved.hasher();
      this.parent = parent;
      this.length = saved.length();
      this.end = saved.end();
      this.before = parent == null ? saved.before() : parent.last();
      this.units = saved.units();
      this.tail = saved.tail();
    }

    private Block(Place<K> place, BlockHash[] units, int[] tail) {
      this.key = place.key;
      this.hasher = place.hasher;
      this.parent = place.parent;
      this.length = place.to - place.from;
      this.end = place.start() + length;
      this.before = place.parent == null ? null : place.parent.last();
      this.units = units;
      this.tail = tail;
    }

    /** Returns the number of tokens up to its end. */
    public int end() {
      return end;
    }

    /** Returns the hasher that names the blocks of its prompt. */
    public BlockHasher hasher() {
      return hasher;
    }

    /** Returns the engine's key for it. */
    public K key() {
      return key;
    }

    /** Returns the engine's key for the block before it; null for the first of a prompt. */
    public @Nullable K parentKey() {
      return parent == null ? null : parent.key;
    }

    /** Returns the number of its tokens. */
    public int length() {
      return length;
    }

    /** The units that end in it. */
    public List<BlockHash> units() {
      return List.of(units);
    }

    private int start() {
      return end - length;
    }

    private @Nullable BlockHash last() {
      return units.length == 0 ? before : units[units.length - 1];
    }

    private boolean isHeld() {
      for (byte each : tiers) if (each != 0) return true;
      return false;
    }

    private boolean isOnDevice(int slot) {
      return (tiers(slot) & DEVICE) != 0;
    }

    private int tiers(int slot) {
      return slot < tiers.length ? tiers[slot] : 0;
    }

    private void widen(int slots) {
      if (tiers.length >= slots) return;
      tiers = Arrays.copyOf(tiers, slots);
      copies = Arrays.copyOf(copies, slots);
    }
  }

  /**
   * Place of a block.
   *
   * @param parent the block before; null for the first of a prompt
   * @param tokens the array with its tokens, from {@code from} to {@code to}
   */
  @SuppressWarnings("ArrayRecordComponent") // handed on at once, never compared
  public record Place<K>(
      K key, @Nullable Block<K> parent, BlockHasher hasher, int[] tokens, int from, int to) {
    public Place {
      if (from < 0 || to <= from || to > tokens.length) {
        throw new IllegalArgumentException(from + " to " + to + " of " + tokens.length);
      }
    }

    private int start() {
      return parent == null ? 0 : parent.end;
    }
  }

  /**
   * The number of blocks that have a unit, on each tier, and of those behind which one can
   * continue.
   */
  private static final class Holders {
    private final int[] onTier = new int[TIERS.length];
    private int ends;

    boolean isEmpty() {
      return ends == 0 && Arrays.stream(onTier).allMatch(count -> count == 0);
    }
  }

  /** A copy is made of them each time they are asked for. */
  private static final Tier[] TIERS = Tier.values();

  private static final int ALL = (1 << TIERS.length) - 1;
  private static final int DEVICE = 1 << Tier.DEVICE.level();
  static final int GROUPS_MAX = 16;
  private static final int NO_SLOT = -1;

  private final int unitTokens;
  private final int blocksMax;
  private final Target target;

  /** Those that were heard of last come last. */
  private final LinkedHashMap<K, Block<K>> blocks = new LinkedHashMap<>(16, 0.75f, true);

  private final Map<BlockHash, Holders> units = new HashMap<>();
  private final List<Group> groups = new ArrayList<>();
  private int grain;
  private int held;
  private long trimmed;

  /**
   * Knows no blocks at first.
   *
   * @param unitTokens how many tokens a unit has
   * @param blocksMax how many blocks it may know; beyond that those go that were not heard of for
   *     longest
   */
  public BlockUnits(int unitTokens, int blocksMax, Target target) {
    if (unitTokens < 1 || blocksMax < 1) {
      throw new IllegalArgumentException(blocksMax + " blocks, units of " + unitTokens + " tokens");
    }
    this.unitTokens = unitTokens;
    this.blocksMax = blocksMax;
    this.target = target;
  }

  /** Returns the number of blocks that the engine has. */
  public int size() {
    return held;
  }

  /** Returns the number of blocks that were given up for want of room. */
  public long trimmed() {
    return trimmed;
  }

  /** The block of that name; null where it is not known. */
  public @Nullable Block<K> find(K key) {
    return blocks.get(key);
  }

  /** The block at that place, which need not be known; it has no holder yet. */
  public Block<K> at(Place<K> place) {
    var known = blocks.get(place.key);
    if (known != null) return known;
    var block = new Block<>(place, units(place), tail(place));
    link(block);
    blocks.put(place.key, block);
    return block;
  }

  private BlockHash[] units(Place<K> place) {
    int first = Math.floorDiv(place.start(), unitTokens);
    int count = (place.start() + place.to - place.from) / unitTokens - first;
    if (count == 0) return Block.NO_UNITS;
    var names = new BlockHash[count];
    var tokens = opened(place);
    var parent = place.parent == null ? null : place.parent.last();
    for (int i = 0; i < count; i++) {
      int from = i * unitTokens;
      parent = place.hasher.hash(parent, tokens, from, from + unitTokens, List.of());
      names[i] = parent;
    }
    return names;
  }

  /** The tokens from the last border before the block on, the block's own included. */
  private int[] opened(Place<K> place) {
    int missing = place.start() % unitTokens;
    int own = place.to - place.from;
    var tokens = new int[missing + own];
    System.arraycopy(place.tokens, place.from, tokens, missing, own);
    for (var block = place.parent; missing > 0 && block != null; block = block.parent) {
      int count = Math.min(missing, block.tail.length);
      missing -= count;
      System.arraycopy(block.tail, block.tail.length - count, tokens, missing, count);
    }
    return tokens;
  }

  private int[] tail(Place<K> place) {
    int end = place.start() + place.to - place.from;
    int count = Math.min(end % unitTokens, place.to - place.from);
    if (count == 0) return Block.NO_TOKENS;
    return Arrays.copyOfRange(place.tokens, place.to - count, place.to);
  }

  private void link(Block<K> block) {
    var parent = block.parent;
    if (parent == null) return;
    block.older = parent.child;
    if (parent.child != null) parent.child.younger = block;
    parent.child = block;
    block.open = open(block);
  }

  private void unlink(Block<K> block) {
    var parent = block.parent;
    if (parent == null) return;
    if (block.younger == null) parent.child = block.older;
    else block.younger.older = block.older;
    if (block.older != null) block.older.younger = block.younger;
    block.parent = null;
    block.older = null;
    block.younger = null;
  }

  /**
   * The engine has the block on the tier, once more where that is its memory.
   *
   * @return whether the group could be followed: their number is bounded
   */
  public boolean hold(Block<K> block, Group group, Tier tier) {
    int slot = slot(group);
    if (slot == NO_SLOT) return false;
    boolean wasHeld = block.isHeld();
    block.widen(groups.size());
    if (tier == Tier.DEVICE) block.copies[slot]++;
    block.tiers[slot] |= (byte) (1 << tier.level());
    if (!wasHeld) held++;
    if (group.isWhole()) divide(block.length);
    changed(block, slot);
    return true;
  }

  /** The engine no longer has the block on the tier, or has one copy less of it in its memory. */
  public void release(Block<K> block, int group, Tier tier) {
    int slot = slotOf(group);
    if (slot == NO_SLOT || (block.tiers(slot) & 1 << tier.level()) == 0) return;
    if (tier == Tier.DEVICE && --block.copies[slot] > 0) return;
    block.tiers[slot] &= (byte) ~(1 << tier.level());
    if (!block.isHeld()) held--;
    changed(block, slot);
    settle(block);
  }

  /**
   * The first group that keeps whole prompts, for an engine that does not say which; -1 if none.
   */
  public int firstWhole() {
    for (var group : groups) if (group.isWhole()) return group.index();
    return NO_SLOT;
  }

  /**
   * Returns an image of what it knows.
   *
   * @param blocksMax the number of blocks beyond which those not heard of for longest are left out
   */
  public UnitImage<K> image(int blocksMax) {
    var chosen = new ArrayList<Block<K>>(Math.min(blocksMax, blocks.size()));
    for (var block : blocks.sequencedValues().reversed()) {
      if (chosen.size() == blocksMax) break;
      block.imageIndex = chosen.size();
      chosen.add(block);
    }
    var saved = new ArrayList<UnitImage.Saved<K>>(chosen.size());
    for (var block : chosen) saved.add(saved(block, chosen));
    return new UnitImage<>(groups, grain, saved);
  }

  private UnitImage.Saved<K> saved(Block<K> block, List<Block<K>> chosen) {
    var parent = block.parent;
    boolean isThere =
        parent != null
            && parent.imageIndex < chosen.size()
            && chosen.get(parent.imageIndex) == parent;
    return new UnitImage.Saved<>(
        block.key,
        isThere && parent != null ? parent.imageIndex : UnitImage.Saved.NO_PARENT,
        block.hasher,
        block.length,
        block.end,
        block.before,
        block.units,
        block.tail,
        block.tiers.clone(),
        block.copies.clone());
  }

  /**
   * Knows what the image says and nothing else.
   *
   * @param restored is told of each block, of those before it first
   * @throws IllegalArgumentException for an image that cannot be one; nothing is known then
   */
  public void restore(UnitImage<K> image, Consumer<Block<K>> restored) {
    clear();
    try {
      for (var group : image.groups()) {
        var _ = slot(group);
      }
      var all = image.blocks();
      var made = new ArrayList<@Nullable Block<K>>(Collections.nCopies(all.size(), null));
      for (int i = all.size() - 1; i >= 0; i--) restore(all, made, i, restored);
      grain = image.grain();
      if (grain > 0) target.grain(grain);
      // Those that were heard of last come last again.
      for (int i = all.size() - 1; i >= 0; i--) {
        var _ = blocks.get(all.get(i).key());
      }
    } catch (RuntimeException e) {
      clear();
      throw e;
    }
  }

  /** The block and those before it, the first of them first. */
  private void restore(
      List<UnitImage.Saved<K>> all,
      List<@Nullable Block<K>> made,
      int last,
      Consumer<Block<K>> restored) {
    var path = new ArrayList<Integer>();
    for (int i = last;
        i != UnitImage.Saved.NO_PARENT && made.get(i) == null;
        i = all.get(i).parent()) {
      path.add(i);
      int parent = all.get(i).parent();
      if (parent != UnitImage.Saved.NO_PARENT && all.get(parent).end() != all.get(i).start()) {
        throw new IllegalArgumentException("a block that does not follow the one before it");
      }
    }
    for (int i : path.reversed()) {
      var saved = all.get(i);
      var parent = saved.parent() == UnitImage.Saved.NO_PARENT ? null : made.get(saved.parent());
      // Without the one before it nobody knows the tokens that its first unit needs.
      if (parent == null && saved.start() % unitTokens != 0) continue;
      var block = restored(saved, parent);
      made.set(i, block);
      restored.accept(block);
    }
  }

  private Block<K> restored(UnitImage.Saved<K> saved, @Nullable Block<K> parent) {
    int count = saved.end() / unitTokens - saved.start() / unitTokens;
    int tail = Math.min(saved.end() % unitTokens, saved.length());
    boolean isSound = saved.units().length == count && saved.tail().length == tail;
    if (!isSound || saved.tiers().length > groups.size() || blocks.containsKey(saved.key())) {
      throw new IllegalArgumentException("a block that cannot be one: " + saved.key());
    }
    var block = new Block<>(saved, parent);
    link(block);
    blocks.put(saved.key(), block);
    block.widen(groups.size());
    System.arraycopy(saved.tiers(), 0, block.tiers, 0, saved.tiers().length);
    System.arraycopy(saved.copies(), 0, block.copies, 0, saved.copies().length);
    for (int slot = 0; slot < groups.size(); slot++) {
      block.tiers[slot] &= (byte) ALL;
      if (block.copies[slot] < 0 || block.copies[slot] > 0 != block.isOnDevice(slot)) {
        throw new IllegalArgumentException(block.copies[slot] + " copies of " + saved.key());
      }
    }
    if (block.isHeld()) held++;
    for (int slot = 0; slot < groups.size(); slot++) changed(block, slot);
    return block;
  }

  /** Forgets everything. */
  public void clear() {
    blocks.clear();
    units.clear();
    groups.clear();
    grain = 0;
    held = 0;
    target.forget();
  }

  /** Cached tokens come in steps that all sizes of blocks have in common. */
  private void divide(int length) {
    int before = grain;
    grain = grain == 0 ? length : greatest(grain, length);
    if (grain != before) target.grain(grain);
  }

  private static int greatest(int a, int b) {
    return b == 0 ? a : greatest(b, a % b);
  }

  private int slot(Group group) {
    int slot = slotOf(group.index());
    if (slot != NO_SLOT || groups.size() == GROUPS_MAX) return slot;
    groups.add(group);
    if (group.isWhole()) {
      for (var block : blocks.values()) refresh(block);
    } else {
      if (windows() == 1) target.needsEnds();
      for (var block : blocks.values()) judgeEnd(block);
    }
    return groups.size() - 1;
  }

  private int slotOf(int index) {
    for (int slot = 0; slot < groups.size(); slot++) {
      if (groups.get(slot).index() == index) return slot;
    }
    return NO_SLOT;
  }

  private int windows() {
    int count = 0;
    for (var group : groups) if (!group.isWhole()) count++;
    return count;
  }

  private void changed(Block<K> block, int slot) {
    if (groups.get(slot).isWhole()) refresh(block);
    else run(block, slot);
  }

  /** Reports the state of the block's units and of those that need it. */
  private void refresh(Block<K> block) {
    int whole = whole(block);
    int open = open(block);
    if (whole == block.whole && open == block.open) return;
    boolean spans = block.start() % unitTokens != 0;
    for (int i = 0; i < block.units.length; i++) {
      boolean needsMore = spans && i == 0;
      report(
          block,
          i,
          needsMore ? block.whole & block.open : block.whole,
          needsMore ? whole & open : whole);
    }
    block.whole = whole;
    block.open = open;
    if (block.end % unitTokens == 0) return;
    for (var next = block.child; next != null; next = next.older) refresh(next);
  }

  private int whole(Block<K> block) {
    int tiers = ALL;
    boolean any = false;
    for (int slot = 0; slot < groups.size(); slot++) {
      if (!groups.get(slot).isWhole()) continue;
      tiers &= block.tiers(slot);
      any = true;
    }
    return any ? tiers : 0;
  }

  /** Returns the tiers with the part of its first unit that lies before the block. */
  private int open(Block<K> block) {
    if (block.start() % unitTokens == 0) return ALL;
    var parent = block.parent;
    if (parent == null) return 0;
    int border = block.start() - block.start() % unitTokens;
    return border >= parent.start() ? parent.whole : parent.whole & parent.open;
  }

  private void report(Block<K> block, int index, int before, int after) {
    if (before == after) return;
    var name = block.units[index];
    var holders = units.computeIfAbsent(name, _ -> new Holders());
    boolean any = false;
    for (var tier : TIERS) {
      int level = tier.level();
      boolean was = (before & 1 << level) != 0;
      boolean is = (after & 1 << level) != 0;
      if (is && !was && holders.onTier[level]++ == 0) target.on(stored(tier, block, index));
      if (was && !is && --holders.onTier[level] == 0) target.on(new KvEvent.Removed(tier, name));
      any |= holders.onTier[level] > 0;
    }
    if (!any && holders.ends == 0) units.remove(name);
  }

  private KvEvent stored(Tier tier, Block<K> block, int index) {
    var parent = index == 0 ? block.before : block.units[index - 1];
    int position = block.start() / unitTokens + index;
    return new KvEvent.Stored(tier, TokenBlock.named(block.units[index], parent, position));
  }

  /** Recounts how much of a window there is at the block, and at those behind it. */
  private void run(Block<K> block, int slot) {
    if (slot >= block.runs.length) block.runs = Arrays.copyOf(block.runs, groups.size());
    int before = block.runs[slot];
    boolean here = block.isOnDevice(slot);
    int behind = 0;
    if (here && block.parent != null && slot < block.parent.runs.length) {
      behind = block.parent.runs[slot];
    }
    int enough = enough(block, slot);
    block.runs[slot] = here ? Math.min(enough, behind + block.length) : 0;
    judgeEnd(block);
    if (block.runs[slot] == before) return;
    for (var next = block.child; next != null; next = next.older) run(next, slot);
  }

  /** As the engine counts: whole blocks that have all but the last token of a window. */
  private int enough(Block<K> block, int slot) {
    int tokens = groups.get(slot).windowTokens() - 1;
    return Math.min(block.end, Math.ceilDiv(tokens, block.length) * block.length);
  }

  private void judgeEnd(Block<K> block) {
    var name = block.last();
    if (name == null || block.end % unitTokens != 0) return;
    boolean is = true;
    for (int slot = 0; slot < groups.size() && is; slot++) {
      if (groups.get(slot).isWhole()) continue;
      is = slot < block.runs.length && block.runs[slot] >= enough(block, slot);
    }
    if (is == block.isEnd) return;
    block.isEnd = is;
    var holders = units.computeIfAbsent(name, _ -> new Holders());
    if (is && holders.ends++ == 0) target.end(name);
    if (!is && --holders.ends == 0) target.noEnd(name);
    if (holders.isEmpty()) units.remove(name);
  }

  /** Forgets blocks without holders and without blocks behind them. */
  private void settle(Block<K> last) {
    var block = last;
    while (block != null && block.child == null && !block.isHeld()) {
      var parent = block.parent;
      unlink(block);
      blocks.remove(block.key);
      block = parent;
    }
  }

  /** Gives up those that are too many; blocks that were asked for before are void then. */
  public void trim() {
    while (blocks.size() > blocksMax) discard(blocks.firstEntry().getValue());
  }

  /** Gives the block up, and those whose units need its tokens. */
  private void discard(Block<K> block) {
    for (var next = block.child; next != null; ) {
      var older = next.older;
      if (next.start() % unitTokens != 0) discard(next);
      next = older;
    }
    if (block.isHeld()) {
      held--;
      trimmed++;
    }
    Arrays.fill(block.tiers, (byte) 0);
    Arrays.fill(block.copies, 0);
    for (int slot = 0; slot < groups.size(); slot++) changed(block, slot);
    while (block.child != null) unlink(block.child);
    unlink(block);
    blocks.remove(block.key);
  }
}
