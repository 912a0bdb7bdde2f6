package dev.kvasir.tierd.tenant;

import dev.kvasir.Nullable;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.BlockHash;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedMap;
import java.util.SequencedSet;
import java.util.TreeMap;

/**
 * The chunks of each tenant that names itself, with a limit for each; on the loop.
 *
 * <p>A chunk belongs to the tenant that stored it first. A tenant at its limit gives up its oldest
 * chunks. What was evicted is noticed when a tenant reaches its limit, or when far more chunks are
 * remembered than there can be.
 */
public final class TenantChunks {
  private static final int REMEMBERED = 2;

  private final List<BlockPool> pools;
  private final PrefixRegistry known;
  private final long chunksMax;
  private final @Nullable TenantLog log;
  private final Gone gone;
  private final TreeMap<String, SequencedSet<BlockHash>> tenants = new TreeMap<>();
  private final long rememberedMax;
  private final TreeMap<String, Integer> reserved = new TreeMap<>();
  private long remembered;

  /** Hears that a chunk is to be given up below its pool too. */
  public interface Gone {
    void gone(Tier tier, int slot, BlockHash name);
  }

  /**
   * The chunks in these pools.
   *
   * @param chunksMax how many each tenant may have; 0 for no limit
   * @param log where they are noted; null for nowhere
   */
  public TenantChunks(
      List<BlockPool> pools,
      PrefixRegistry known,
      long chunksMax,
      @Nullable TenantLog log,
      Gone gone) {
    this.pools = List.copyOf(pools);
    this.known = known;
    this.chunksMax = chunksMax;
    this.log = log;
    this.gone = gone;
    long chunks = 0;
    for (var pool : pools) chunks += pool.total();
    this.rememberedMax = REMEMBERED * chunks;
  }

  /** Takes over what is still there of what the log says. */
  public void restore(List<TenantLog.Line> lines) {
    for (var line : lines) if (isThere(line.name())) of(line.tenant()).add(line.name());
    sweep();
  }

  private SequencedSet<BlockHash> of(String tenant) {
    return tenants.computeIfAbsent(tenant, _ -> new LinkedHashSet<>());
  }

  private boolean isThere(BlockHash name) {
    return known.fastest(name) != null;
  }

  /**
   * Reserves room for one more chunk of the tenant, whose oldest chunks give way where they can;
   * returns whether there is room.
   */
  public boolean reserve(String tenant) {
    if (tenant.isEmpty() || chunksMax == 0) return true;
    boolean room = makeRoom(of(tenant), chunksMax - reserved.getOrDefault(tenant, 0));
    if (room) reserved.merge(tenant, 1, Integer::sum);
    return room;
  }

  private boolean makeRoom(SequencedSet<BlockHash> names, long max) {
    if (names.size() < max) return true;
    names.removeIf(name -> !isThere(name));
    while (names.size() >= max) {
      if (names.isEmpty()) return false;
      var oldest = names.removeFirst();
      forget(oldest);
      if (isThere(oldest)) {
        names.addLast(oldest); // Somebody holds it.
        return false;
      }
    }
    return true;
  }

  /** Of so many that were reserved, these are the tenant's from now on. */
  public void stored(String tenant, int count, List<BlockHash> names) {
    reserved.computeIfPresent(tenant, (_, all) -> all > count ? all - count : null);
    if (tenant.isEmpty() || names.isEmpty()) return;
    of(tenant).addAll(names);
    if (log != null) log.add(names.stream().map(name -> new TenantLog.Line(tenant, name)).toList());
    remembered += names.size();
    if (remembered > rememberedMax) sweep();
  }

  /**
   * Gives up all chunks of the tenant on all tiers here; how many there were. Those that somebody
   * holds, as while they go to a lower tier, are its own until they are given up again.
   */
  public int forget(String tenant) {
    var names = tenants.get(tenant);
    if (names == null) return 0;
    int count = 0;
    for (var name : names) {
      if (!isThere(name)) continue;
      forget(name);
      count++;
    }
    sweep();
    return count;
  }

  /** Returns whether the tenant has chunks, as far as is known. */
  public boolean has(String tenant) {
    return tenants.containsKey(tenant);
  }

  private void forget(BlockHash name) {
    for (var pool : pools) {
      pool.hold(name)
          .ifPresent(
              block -> {
                gone.gone(pool.tier(), block.id(), name);
                block.onRelease(PoolSettings.Release.RESET);
                block.release();
              });
    }
  }

  /** Leaves out what is there no more, and writes the log anew. */
  private void sweep() {
    var lines = new ArrayList<TenantLog.Line>();
    tenants.forEach(
        (tenant, names) -> {
          names.removeIf(name -> !isThere(name));
          for (var name : names) lines.add(new TenantLog.Line(tenant, name));
        });
    tenants.values().removeIf(SequencedSet::isEmpty);
    remembered = lines.size();
    if (log != null) log.rewrite(lines);
  }

  /** Returns how many chunks each tenant has stored that were not seen to be gone. */
  public SequencedMap<String, Integer> counts() {
    var counts = new LinkedHashMap<String, Integer>();
    tenants.forEach((tenant, names) -> counts.put(tenant, names.size()));
    return counts;
  }
}
