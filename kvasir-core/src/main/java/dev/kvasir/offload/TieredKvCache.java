package dev.kvasir.offload;

import dev.kvasir.Nullable;
import dev.kvasir.kv.Block;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.EvictionLimits;
import dev.kvasir.kv.KvChanges;
import dev.kvasir.kv.KvListener;
import dev.kvasir.kv.KvMatch;
import dev.kvasir.kv.KvSpan;
import dev.kvasir.kv.KvStore;
import dev.kvasir.kv.PooledKv;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.ResettableKv;
import dev.kvasir.kv.WeakBlock;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.evict.FrequencySketch;
import dev.kvasir.kv.evict.policy.EndedRequest;
import dev.kvasir.kv.evict.policy.LearnedStats;
import dev.kvasir.kv.evict.policy.ReturnHint;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.BlockNames;
import dev.kvasir.offload.onboard.LowerTier;
import dev.kvasir.offload.onboard.Onboarding;
import dev.kvasir.offload.onboard.OnboardingLimits;
import dev.kvasir.offload.onboard.OnboardingLoad;
import dev.kvasir.offload.onboard.OnboardingLoads;
import dev.kvasir.offload.onboard.PromotionChoice;
import dev.kvasir.offload.onboard.TierLoads;
import dev.kvasir.offload.onboard.TierLookup;
import dev.kvasir.offload.pipeline.OffloadPipeline;
import dev.kvasir.offload.pipeline.OffloadRequest;
import dev.kvasir.offload.pipeline.PendingTransfers;
import dev.kvasir.offload.pipeline.Precondition;
import dev.kvasir.offload.pipeline.TransferHandle;
import dev.kvasir.time.EventLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * A tiered KV cache: one pipeline between each two tiers moves blocks down, and a search loads them
 * back up.
 *
 * <p>This is the OffloadManager of the seeds. Its In-Queue is a pipeline before the upgrade, its
 * On-Deck the upgraded blocks that wait, its Transfer Engines the executors and the stores.
 */
public final class TieredKvCache implements ResettableKv, KvStore.Fetching {
  private final BlockPool top;
  private final PooledKv device;
  private final List<LowerTier> lowerTiers;
  private final List<OffloadPipeline> edges;
  private final PendingTransfers settlement;
  private final TierLookup lookup;
  private final OnboardingLoads ascents;
  private final EventLoop loop;
  private final PromotionChoice choice;
  private final OnboardingLimits limits;

  /**
   * Flag that is true if blocks are offloaded when their request ends, since only then is it known
   * whether they return.
   */
  private final boolean sendsAtEnd;

  /** Blocks to offer again, by the edge whose tier lacks them. */
  private final TreeMap<Integer, List<WeakBlock>> lacking = new TreeMap<>();

  private int searches;
  private long searchesDeclined;
  private long declined;

  public TieredKvCache(
      EventLoop loop, PrefixRegistry registry, BlockPool top, List<LowerTier> lowerTiers) {
    this(loop, registry, top, lowerTiers, OnboardingLimits.DEFAULT, null);
  }

  /**
   * A tiered cache with limits of its own for loads.
   *
   * @param frequency tells policies how often blocks are used; null where that is not counted
   */
  public TieredKvCache(
      EventLoop loop,
      PrefixRegistry registry,
      BlockPool top,
      List<LowerTier> lowerTiers,
      OnboardingLimits limits,
      @Nullable FrequencySketch frequency) {
    registry.arrange(CommonTiers.order(top, lowerTiers));
    var settled = new PendingTransfers();
    var edges =
        new Edges(
            CommonTiers.edges(loop, lowerTiers, frequency, settled),
            TierLoads.of(loop, top, lowerTiers),
            settled);
    this(loop, new TierLookup(registry, registry), top, lowerTiers, limits, edges);
  }

  /**
   * The ways between the tiers, from the top down.
   *
   * @param settlement knows when everything sent down has ended
   */
  record Edges(List<OffloadPipeline> down, List<TierLoads> up, PendingTransfers settlement) {}

  TieredKvCache(
      EventLoop loop,
      TierLookup lookup,
      BlockPool top,
      List<LowerTier> lowerTiers,
      OnboardingLimits limits,
      Edges edges) {
    requireOrder(top, lowerTiers);
    this.loop = loop;
    this.lookup = lookup;
    this.top = top;
    this.device = new PooledKv(top, new Descent());
    this.lowerTiers = List.copyOf(lowerTiers);
    device.setSlower(this.lowerTiers.stream().map(LowerTier::pool).toList(), this::sendEnded);
    this.sendsAtEnd = !lowerTiers.isEmpty() && lowerTiers.getFirst().pool().learned().isPresent();
    this.edges = List.copyOf(edges.down());
    this.settlement = edges.settlement();
    this.limits = limits;
    this.ascents = new OnboardingLoads(loop, top, this.lowerTiers, List.copyOf(edges.up()), limits);
    this.choice = new PromotionChoice(this.lowerTiers);
  }

  /** Offloads blocks of the top tier, if the policies accept them. */
  public Optional<TransferHandle> offload(OffloadRequest request) {
    return edges.isEmpty() ? Optional.empty() : edges.getFirst().enqueue(request);
  }

  /**
   * Loads the longest prefix that is on any tiers to the top, and holds it there.
   *
   * <p>{@code done} is called once: immediately if all blocks are at the top, and after {@code
   * patience} at the latest, with the blocks that have arrived. Later ones stay cached. If too many
   * searches wait for blocks, the answer is the prefix at the top, immediately.
   */
  public Onboarding find(
      List<BlockHash> hashes, Duration patience, Consumer<Onboarding.Found> done) {
    var tiers = lookup.prefix(hashes);
    int worthwhile = choice.blocks(tiers);
    var onboarding = new Onboarding(worthwhile, tiers, found -> answer(found, done));
    var wanted = hashes.subList(0, worthwhile);
    if (searches < limits.searchesMax()) {
      if (worthwhile > 0) open(onboarding);
      onboarding.begin(loop, patience, wanted, ascents);
    } else {
      var here = top.match(wanted);
      if (here.size() < worthwhile) searchesDeclined++;
      onboarding.decline(here);
    }
    return onboarding;
  }

  private void answer(Onboarding.Found found, Consumer<Onboarding.Found> done) {
    for (var block : found.blocks()) offerAgain(block.hash());
    done.accept(found);
  }

  private void open(Onboarding onboarding) {
    searches++;
    onboarding.whenSettled(() -> searches--);
  }

  /** Offloads the blocks of a request that has ended, for policies that learn from it. */
  private void sendEnded(EndedRequest end) {
    if (!sendsAtEnd) return;
    var edge = edges.getFirst();
    var below = lowerTiers.getFirst().pool();
    var sources = new ArrayList<WeakBlock>();
    for (int i = 0; i < end.blocks(); i++) {
      var name = end.names().name(i);
      boolean isMissing = top.has(name) && !below.has(name) && !edge.isPending(name);
      if (isMissing) sources.add(new WeakBlock(top, name));
    }
    if (!sources.isEmpty()) send(edge, OffloadRequest.weak(sources));
  }

  /**
   * Offloads blocks as they are computed, as far as the pipeline has room, unless they are
   * offloaded when their request ends. Those of a step on its way wait for it in the pipeline.
   */
  private final class Descent implements KvListener {
    @Override
    public void filled(List<Block.Registered> blocks) {
      if (edges.isEmpty() || sendsAtEnd) return;
      var sources = new ArrayList<WeakBlock>(blocks.size());
      for (var block : blocks) sources.add(block.weak());
      send(edges.getFirst(), OffloadRequest.weak(sources));
    }

    @Override
    public Landing launched(List<BlockHash> names) {
      if (edges.isEmpty() || sendsAtEnd) return Landing.UNHEARD;
      var sources = new ArrayList<WeakBlock>(names.size());
      for (var name : names) sources.add(new WeakBlock(top, name));
      var landing = new Precondition();
      var request = OffloadRequest.weak(sources).after(landing);
      return new Awaited(landing, send(edges.getFirst(), request));
    }
  }

  /** Blocks on their way down whose step is on its way, too. */
  private record Awaited(Precondition landing, Optional<TransferHandle> handle)
      implements KvListener.Landing {
    @Override
    public void landed() {
      landing.meet();
    }

    @Override
    public void failed() {
      handle.ifPresent(TransferHandle::cancel);
      landing.fail("the step that was to compute the blocks failed");
    }
  }

  private Optional<TransferHandle> send(OffloadPipeline edge, OffloadRequest request) {
    var handle = edge.enqueueWhatFits(request);
    int submitted = handle.map(one -> one.progress().submitted()).orElse(0);
    declined += request.blocks().size() - submitted;
    return handle;
  }

  /**
   * Offers a block that was found at the top to the first pipeline whose tier lacks it: a policy
   * may accept it now, and a failed transfer is repeated. It has priority over blocks that were
   * used once. The offer is made in a separate task, since it may hold blocks that the calling
   * engine has planned with.
   */
  private void offerAgain(BlockHash hash) {
    var source = top;
    for (int i = 0; i < edges.size(); i++) {
      var pool = lowerTiers.get(i).pool();
      if (!pool.has(hash)) {
        // What is on its way there is offered to the next edge when it has come.
        if (edges.get(i).isPending(hash)) return;
        if (lacking.isEmpty()) loop.execute(this::sendLacking);
        lacking.computeIfAbsent(i, _ -> new ArrayList<>()).add(new WeakBlock(source, hash));
        return;
      }
      source = pool;
    }
  }

  private void sendLacking() {
    var offers = new TreeMap<>(lacking);
    lacking.clear();
    offers.forEach(
        (edge, blocks) -> {
          var request = OffloadRequest.weak(blocks).withPriority(OffloadRequest.USED_AGAIN);
          send(edges.get(edge), request);
        });
  }

  /** Blocks that were not offloaded, because too many were waiting. */
  public long declined() {
    return declined;
  }

  @Override
  public int blockTokens() {
    return device.blockTokens();
  }

  @Override
  public int total() {
    return device.total();
  }

  @Override
  public int available() {
    return device.available();
  }

  @Override
  public boolean has(BlockHash name) {
    return device.has(name);
  }

  @Override
  public KvMatch match(BlockNames names, int blocksMax) {
    var here = device.match(names, blocksMax);
    if (here.blocks() == blocksMax || !lookup.has(names.name(here.blocks()))) {
      return here;
    }
    var tiers = lookup.prefix(names(names, blocksMax));
    int below = Math.max(0, choice.blocks(tiers) - here.blocks());
    return new KvMatch(here.blocks(), here.idle(), below, tiers.size() + 1);
  }

  @Override
  public boolean watch(KvChanges changes) {
    lookup.watch(changes);
    return true;
  }

  @Override
  public @Nullable KvSpan open(BlockNames names, int blocks) {
    var span = device.open(names, blocks);
    if (span == null) return null;
    for (int i = 0; i < blocks; i++) offerAgain(names.name(i));
    return span;
  }

  @Override
  public int reclaimable(List<KvSpan> spans) {
    return device.reclaimable(spans);
  }

  @Override
  public Fetching fetching() {
    return this;
  }

  @Override
  public int fetchable() {
    return ascents.room();
  }

  @Override
  public void fetch(BlockNames names, int blocks, Consumer<KvSpan> done) {
    find(
        names(names, blocks),
        limits.loadTimeout(),
        found -> done.accept(device.adopt(names, found.blocks(), found.arrivedFrom())));
  }

  @Override
  public void updateHint(BlockHash last, ReturnHint hint) {
    device.updateHint(last, hint);
  }

  @Override
  public void expire() {
    device.expire();
  }

  @Override
  public Map<Tier, EvictionLimits.Stats> limits() {
    return device.limits();
  }

  @Override
  public Map<Tier, LearnedStats> learned() {
    return device.learned();
  }

  @Override
  public int clear() {
    for (var lower : lowerTiers) lower.pool().clear();
    return device.clear();
  }

  @Override
  public long hits() {
    return device.hits();
  }

  @Override
  public long misses() {
    return device.misses();
  }

  private static List<BlockHash> names(BlockNames names, int blocks) {
    var list = new ArrayList<BlockHash>(blocks);
    for (int i = 0; i < blocks; i++) list.add(names.name(i));
    return list;
  }

  /** The pipelines from the top down. */
  public List<OffloadPipeline> edges() {
    return edges;
  }

  /** Knows when everything sent down has ended. */
  public PendingTransfers settlement() {
    return settlement;
  }

  /** Blocks that are on their way up. */
  public int arriving() {
    return ascents.size();
  }

  /** Returns the load of the onboardings under way, and its limits. */
  public OnboardingLoad onboardings() {
    return new OnboardingLoad(
        searches,
        limits.searchesMax(),
        ascents.size(),
        ascents.overdue(),
        searchesDeclined,
        ascents.loadsTimedOut());
  }

  /** Settings of this cache that are likely to cost more than they gain. */
  public List<String> warnings() {
    var warnings = new ArrayList<String>();
    var above = top;
    for (var lower : lowerTiers) {
      if (lower.pool().total() < above.total()) {
        warnings.add(
            "%s has %s blocks, fewer than the %s of %s above it: blocks will be pushed out of it"
                    .formatted(
                        lower.pool().tier(), lower.pool().total(), above.total(), above.tier())
                + " before they are asked for again");
      }
      above = lower.pool();
    }
    return warnings;
  }

  /** Tiers below host memory may be in any order, since all of them are reached through it. */
  private static boolean mayStand(Tier tier, Tier above) {
    return tier.level() > above.level() || (tier.level() > Tier.HOST.level() && tier != above);
  }

  private static void requireOrder(BlockPool top, List<LowerTier> lowerTiers) {
    var above = top;
    for (var lower : lowerTiers) {
      if (!mayStand(lower.pool().tier(), above.tier())) {
        throw new IllegalArgumentException(
            lower.pool().tier() + " cannot stand below " + above.tier());
      }
      if (lower.pool().blockTokens() != above.blockTokens()) {
        throw new IllegalArgumentException(
            "%s has blocks of %s tokens, %s of %s"
                .formatted(
                    lower.pool().tier(),
                    lower.pool().blockTokens(),
                    above.tier(),
                    above.blockTokens()));
      }
      above = lower.pool();
    }
  }
}
