package dev.kvasir.bench.evict;

import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.evict.Eviction;
import dev.kvasir.kv.evict.FrequencySketch;
import dev.kvasir.kv.evict.policy.EndedRequest;
import dev.kvasir.kv.evict.policy.LearnedStats;
import dev.kvasir.kv.evict.policy.ReturnHint;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.BlockNames;
import dev.kvasir.kv.name.TokenBlock;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * Measures how long one request occupies the loop with its end and its evictions, in a pool of a
 * million blocks: processor time of the thread, so that others on the machine do not count.
 *
 * <p>Conversations of a few turns come and go until the pool has been filled several times. The
 * same requests come in several runs, and of each request the least time counts: what its work
 * takes is the same in all runs, unlike interrupts, page faults and compilers that come between.
 */
public final class EvictionPauseBench {
  private static final int BLOCKS_USUAL = 1_000_000;
  private static final int REQUESTS_USUAL = 120_000;
  private static final int RUNS = 3;
  private static final int OPEN_MAX = 20_000;
  private static final int TURN_BLOCKS_MAX = 24;
  private static final int CHAIN_BLOCKS_MAX = 96;
  private static final int OUTPUT_TOKENS_MAX = 1_000;
  private static final double NANOS_PER_MICRO = 1e3;

  private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
  private final SplittableRandom random = new SplittableRandom(42);
  private final List<Conversation> open = new ArrayList<>();
  private final BlockPool pool;

  private EvictionPauseBench(String eviction, int blocks) {
    var order = Eviction.named(eviction, new FrequencySketch(blocks));
    var settings = PoolSettings.of(Tier.DEVICE, blocks, 16).with(order);
    this.pool = new BlockPool(settings, new PrefixRegistry(), new KvEvents());
  }

  public static void main(String[] args) {
    var eviction = args.length > 0 ? args[0] : "learned";
    int blocks = args.length > 1 ? Integer.parseInt(args[1]) : BLOCKS_USUAL;
    int requests = args.length > 2 ? Integer.parseInt(args[2]) : REQUESTS_USUAL;
    var least = new long[requests];
    Arrays.fill(least, Long.MAX_VALUE);
    for (int run = 0; run < RUNS; run++) {
      var bench = new EvictionPauseBench(eviction, blocks);
      var nanos = new long[requests];
      for (int i = 0; i < requests; i++) nanos[i] = bench.request();
      for (int i = 0; i < requests; i++) least[i] = Math.min(least[i], nanos[i]);
      print(eviction + ", run " + run, nanos);
      System.out.println(bench.pool.learned().map(LearnedStats::toString).orElse("learns nothing"));
    }
    print(eviction + ", the least of all runs", least);
  }

  private static void print(String title, long[] nanos) {
    var sorted = nanos.clone();
    Arrays.sort(sorted);
    System.out.printf(
        Locale.ROOT,
        "%s, %d requests: %.1f us p50, %.1f us p99, %.1f us p99.99, %.1f us at most%n",
        title,
        sorted.length,
        sorted[sorted.length / 2] / NANOS_PER_MICRO,
        sorted[(int) (sorted.length * 0.99)] / NANOS_PER_MICRO,
        sorted[(int) (sorted.length * 0.9999)] / NANOS_PER_MICRO,
        sorted[sorted.length - 1] / NANOS_PER_MICRO);
  }

  /** One turn of a new or an open conversation; what its end and its room took. */
  private long request() {
    var conversation = next();
    int before = conversation.blocks.size();
    conversation.grow(1 + random.nextInt(TURN_BLOCKS_MAX), random);
    var held = new ArrayList<>(pool.match(conversation.hashes(before)));
    int missing = conversation.blocks.size() - held.size();
    long begin = threads.getCurrentThreadCpuTime();
    var room = pool.allocate(missing).orElseThrow();
    long elapsed = threads.getCurrentThreadCpuTime() - begin;
    for (var empty : room) held.add(empty.receive(conversation.blocks.get(held.size())));
    int count = held.size();
    int output = random.nextInt(OUTPUT_TOKENS_MAX);
    var end = new EndedRequest(conversation, count, count, output, ReturnHint.NONE);
    begin = threads.getCurrentThreadCpuTime();
    pool.ended(end);
    elapsed += threads.getCurrentThreadCpuTime() - begin;
    pool.release(held);
    return elapsed;
  }

  private Conversation next() {
    if (open.size() < OPEN_MAX) {
      open.add(new Conversation());
      return open.getLast();
    }
    int at = random.nextInt(OPEN_MAX);
    if (open.get(at).blocks.size() > CHAIN_BLOCKS_MAX) open.set(at, new Conversation());
    return open.get(at);
  }

  /** The blocks of one conversation. */
  private static final class Conversation implements BlockNames {
    private final List<TokenBlock> blocks = new ArrayList<>();

    void grow(int count, SplittableRandom random) {
      for (int i = 0; i < count; i++) {
        long one = random.nextLong();
        var hash = new BlockHash(one, random.nextLong(), one, one);
        var parent = blocks.isEmpty() ? null : blocks.getLast().hash();
        blocks.add(TokenBlock.named(hash, parent, blocks.size()));
      }
    }

    List<BlockHash> hashes(int count) {
      return blocks.subList(0, count).stream().map(TokenBlock::hash).toList();
    }

    @Override
    public BlockHash name(int index) {
      return blocks.get(index).hash();
    }

    @Override
    public TokenBlock block(int index) {
      return blocks.get(index);
    }
  }
}
