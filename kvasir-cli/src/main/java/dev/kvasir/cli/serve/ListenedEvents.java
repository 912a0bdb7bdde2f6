package dev.kvasir.cli.serve;

import static java.lang.System.Logger.Level.WARNING;

import dev.kvasir.Nullable;
import dev.kvasir.cli.settings.WorkerSettings;
import dev.kvasir.events.DropReason;
import dev.kvasir.events.EngineBlocks;
import dev.kvasir.events.EngineSnapshot;
import dev.kvasir.events.EventRoom;
import dev.kvasir.events.KvEventSubscriber;
import dev.kvasir.events.SubscriberSettings;
import dev.kvasir.events.WorkerEvents;
import dev.kvasir.gateway.Gateway;
import dev.kvasir.gateway.replica.IndexSnapshots;
import dev.kvasir.router.index.UnitSources;
import dev.kvasir.tierd.feed.TierFeedReader;
import java.io.IOException;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

/** The KV events of one worker on their way into the index of a gateway. */
final class ListenedEvents implements WorkerEvents, AutoCloseable {
  private static final System.Logger LOG = System.getLogger(ListenedEvents.class.getName());
  private static final int BLOCKS_MAX = 1 << 20;

  private final EngineBlocks blocks;
  private final KvEventSubscriber subscriber;
  private final @Nullable TierFeedReader below;
  private final String source;
  private final Runnable leave;

  /** Done when it takes in what it hears. */
  private final CompletableFuture<Boolean> begun = new CompletableFuture<>();

  private ListenedEvents(
      EngineBlocks blocks,
      KvEventSubscriber subscriber,
      @Nullable TierFeedReader below,
      String source,
      Runnable leave) {
    this.source = source;
    this.blocks = blocks;
    this.subscriber = subscriber;
    this.below = below;
    this.leave = leave;
  }

  /**
   * Begins to listen to a worker that the gateway has.
   *
   * @param below what the tier daemon below it tells; null for none
   * @param snapshots who asks other gateways what they know of the worker; null for nobody
   * @param room what the events of all workers may take
   */
  static ListenedEvents start(
      Gateway gateway,
      WorkerSettings worker,
      @Nullable TierFeedReader below,
      @Nullable IndexSnapshots snapshots,
      EventRoom room)
      throws IOException {
    var name = worker.worker().name();
    var sources = new UnitSources(gateway.events(name));
    var held = sources.below();
    var blocks =
        new EngineBlocks(
            Gateway::hasher,
            gateway.blockTokens(),
            BLOCKS_MAX,
            below == null ? gateway.events(name) : sources.own(),
            reason -> warn(name, reason));
    if (below != null) {
      blocks.whenLearned(below::learn);
      gateway.loop().execute(() -> below.add(held));
    }
    var settings = SubscriberSettings.of(worker.events(), worker.replayIfAny(), room);
    var subscriber = KvEventSubscriber.waiting(gateway.loop(), settings, blocks);
    var listened =
        new ListenedEvents(
            blocks,
            subscriber,
            below,
            worker.worker().url() + " " + worker.events(),
            () -> {
              if (below != null) gateway.loop().execute(() -> below.remove(held));
            });
    gateway.setEvents(name, listened);
    listened.requestSnapshot(gateway, name, snapshots);
    return listened;
  }

  private void requestSnapshot(Gateway gateway, String worker, @Nullable IndexSnapshots snapshots) {
    var requested =
        snapshots == null
            ? CompletableFuture.completedFuture(Optional.<EngineSnapshot>empty())
            : snapshots.request(new IndexSnapshots.Wanted(worker, source));
    var _ =
        requested.thenAccept(
            known -> gateway.loop().execute(() -> begin(worker, known.orElse(null))));
  }

  private void begin(String worker, @Nullable EngineSnapshot known) {
    try {
      if (known == null) subscriber.begin();
      else subscriber.resume(known, blocks);
    } catch (IllegalArgumentException e) {
      LOG.log(WARNING, "worker {0}: a snapshot that cannot be used: {1}", worker, e.getMessage());
      subscriber.begin();
    } finally {
      begun.complete(true);
    }
  }

  /** Done when it takes in what it hears. */
  CompletableFuture<Boolean> begun() {
    return begun;
  }

  @Override
  public String source() {
    return source;
  }

  @Override
  public @Nullable EngineSnapshot snapshot() {
    return subscriber.snapshot(blocks);
  }

  private static void warn(String worker, DropReason reason) {
    LOG.log(
        WARNING,
        "worker {0}: some of its KV events are left out, since {1};"
            + " kvasir_kv_event_blocks_dropped_total'{'reason=\"{2}\"'}' counts them",
        worker,
        reason.text(),
        reason.label());
  }

  @Override
  public void check() {
    subscriber.check();
  }

  @Override
  public Counts counts() {
    var stats = subscriber.stats();
    var byReason = new EnumMap<DropReason, Long>(DropReason.class);
    for (var reason : DropReason.values()) byReason.put(reason, 0L);
    byReason.putAll(blocks.dropped());
    var dropped = new TreeMap<String, Long>();
    byReason.forEach((reason, count) -> dropped.put(reason.label(), count));
    if (below != null) {
      dropped.put("tier_unknown", below.unknown());
      dropped.put("tier_capacity", below.forgotten());
    }
    var messages =
        Map.of(
            "malformed", stats.malformed(),
            "too_much", stats.excesses(),
            "unreadable_event", stats.unreadable(),
            "unknown_event", stats.unknown());
    return new Counts(
        stats.batches(),
        stats.connects(),
        stats.gaps(),
        stats.restarts(),
        stats.requests(),
        stats.lagSeconds(),
        dropped,
        messages);
  }

  @Override
  public void close() {
    subscriber.close();
    leave.run();
  }
}
