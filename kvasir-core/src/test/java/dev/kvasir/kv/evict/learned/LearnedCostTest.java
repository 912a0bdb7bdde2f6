package dev.kvasir.kv.evict.learned;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.Evictions;
import dev.kvasir.kv.evict.EvictionKind;
import dev.kvasir.kv.evict.policy.EndedRequest;
import dev.kvasir.kv.evict.policy.EvictionPolicy;
import dev.kvasir.kv.evict.policy.LearnedStats;
import dev.kvasir.kv.evict.policy.ReturnHint;
import dev.kvasir.kv.name.Chains;
import dev.kvasir.kv.name.TokenBlock;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests what the learnt order costs: memory for each block, and work for each request. */
class LearnedCostTest {
  private static final int BLOCKS = 1 << 17;
  private static final int RESIDENT_BYTES_MAX = 48;
  private static final int REMEMBERED_BYTES_MAX = 16;

  @Test
  void needs48BytesForABlockAnd16ForEachRememberedOneAtMost() {
    long some = stats(Evictions.policy(EvictionKind.LEARNED, BLOCKS)).bytes();
    long more = stats(Evictions.policy(EvictionKind.LEARNED, 2 * BLOCKS)).bytes();
    int perBlock = RESIDENT_BYTES_MAX + LearnedEviction.REMEMBERED_PER_BLOCK * REMEMBERED_BYTES_MAX;
    assertThat(more - some).isLessThanOrEqualTo((long) BLOCKS * perBlock);
  }

  @Test
  void reportsHowMuchMemoryItNeeds() throws IllegalAccessException {
    var policy = Evictions.policy(EvictionKind.LEARNED, BLOCKS);
    long counted = arrayBytes(policy);
    assertThat(stats(policy).bytes()).isBetween(counted - 8_192, counted);
  }

  @Test
  void remembersSmallBlocksWithoutTheirNames() {
    int blocks = 128;
    var pool = Evictions.pool(EvictionKind.LEARNED, blocks);
    var one = Chains.chain(1, 100);
    request(pool, one);
    request(pool, Chains.chain(2, 100));
    assertThat(ghosts(pool)).isEqualTo(2 * 100 - blocks);
    // It takes back all that was forgotten of it, and its end has a name.
    request(pool, one);
    assertThat(ghosts(pool)).isEqualTo(2 * 100 - blocks);
    var longer = new ArrayList<>(one);
    longer.addAll(Chains.fork(one, 3, 20));
    request(pool, Chains.chain(2, 100));
    request(pool, longer);
    assertThat(ghosts(pool)).isEqualTo(2 * 100 + 20 - blocks);
  }

  private static long ghosts(BlockPool pool) {
    return pool.learned().orElseThrow().remembered();
  }

  @Test
  void noRequestLetsMoreThanAFewSegmentsGrowOlder() {
    var pool = Evictions.pool(EvictionKind.LEARNED, 4_096);
    for (int i = 0; i < 2_000; i++) request(pool, Chains.chain(i, 1));
    // It lasts so long that all others reach many ages meanwhile.
    request(pool, Chains.chain(5_000, 2_000));
    request(pool, Chains.chain(6_000, 1));
    assertThat(pool.learned().orElseThrow().agedMost()).isEqualTo(Cells.AGED_MAX);
  }

  @Test
  void noRequestRefreshesMoreThanAFewClasses() {
    var tables = new ReturnTables(1);
    for (int key = 0; key < ReturnTables.KEYS; key++) {
      int above = tables.child(ReturnTables.ROOT, key);
      for (int below = 0; below < ReturnTables.KEYS; below++) {
        tables.reached(tables.child(above, below), 0, 100);
      }
    }
    int due = 0;
    int requests = 0;
    for (int refreshed = refresh(tables); refreshed > 0; refreshed = refresh(tables)) {
      assertThat(refreshed).isLessThanOrEqualTo(ReturnTables.REFRESHES_MAX);
      due += refreshed;
      if (++requests == 1_000) break;
    }
    assertThat(due).isGreaterThanOrEqualTo(ReturnTables.KEYS * ReturnTables.KEYS);
    assertThat(requests).isLessThan(100);
  }

  private static int refresh(ReturnTables tables) {
    tables.ended();
    int refreshed = 0;
    while (tables.refreshNext() != ReturnTables.NONE) refreshed++;
    return refreshed;
  }

  private static LearnedStats stats(EvictionPolicy policy) {
    return policy.learned().orElseThrow();
  }

  private static void request(BlockPool pool, List<TokenBlock> chain) {
    var held = new ArrayList<>(pool.match(Chains.hashes(chain)));
    held.addAll(Chains.register(pool, chain.subList(held.size(), chain.size())));
    var names = Chains.names(chain);
    pool.ended(new EndedRequest(names, chain.size(), chain.size(), 1, ReturnHint.NONE));
    pool.release(held);
  }

  /** Returns the bytes of all arrays reachable from the policy through its own classes. */
  private static long arrayBytes(EvictionPolicy policy) throws IllegalAccessException {
    var seen = new IdentityHashMap<Object, Boolean>();
    var next = new ArrayDeque<Object>();
    next.add(policy);
    long bytes = 0;
    while (!next.isEmpty()) {
      var one = next.remove();
      if (seen.put(one, true) != null) continue;
      if (one.getClass().isArray()) {
        bytes += Array.getLength(one) * width(one.getClass().getComponentType());
        continue;
      }
      for (var of = one.getClass(); isOurs(of); of = of.getSuperclass()) {
        for (var field : of.getDeclaredFields()) add(next, field, one);
      }
    }
    return bytes;
  }

  private static boolean isOurs(Class<?> of) {
    return of.getPackageName().startsWith("dev.kvasir.kv.evict");
  }

  private static void add(ArrayDeque<Object> next, Field field, Object of)
      throws IllegalAccessException {
    if (Modifier.isStatic(field.getModifiers()) || field.getType().isPrimitive()) return;
    field.setAccessible(true);
    var value = field.get(of);
    if (value != null) next.add(value);
  }

  private static long width(Class<?> of) {
    if (of == long.class || of == double.class) return Long.BYTES;
    if (of == int.class || of == float.class) return Integer.BYTES;
    return of == short.class ? Short.BYTES : Byte.BYTES;
  }
}
