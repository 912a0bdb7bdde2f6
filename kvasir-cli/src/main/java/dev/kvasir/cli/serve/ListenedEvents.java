package dev.kvasir.cli.serve;

import static java.lang.System.Logger.Level.WARNING;

import dev.kvasir.cli.settings.WorkerSettings;
import dev.kvasir.live.events.DropReason;
import dev.kvasir.live.events.EngineBlocks;
import dev.kvasir.live.events.KvEventSubscriber;
import dev.kvasir.live.events.SubscriberSettings;
import dev.kvasir.live.gateway.Gateway;
import dev.kvasir.live.gateway.worker.WorkerEvents;
import java.io.IOException;
import java.util.EnumMap;
import java.util.Map;
import java.util.TreeMap;
import org.zeromq.ZContext;

/** The KV events of one worker on their way into the index of a gateway. */
final class ListenedEvents implements WorkerEvents, AutoCloseable {
  private static final System.Logger LOG = System.getLogger(ListenedEvents.class.getName());
  private static final int BLOCKS_MAX = 1 << 20;

  private final EngineBlocks blocks;
  private final KvEventSubscriber subscriber;

  private ListenedEvents(EngineBlocks blocks, KvEventSubscriber subscriber) {
    this.blocks = blocks;
    this.subscriber = subscriber;
  }

  /** Begins to listen to a worker that the gateway has. */
  static ListenedEvents start(ZContext sockets, Gateway gateway, WorkerSettings worker)
      throws IOException {
    var name = worker.worker().name();
    var blocks =
        new EngineBlocks(
            Gateway::hasher,
            gateway.blockTokens(),
            BLOCKS_MAX,
            gateway.events(name),
            reason -> warn(name, reason));
    var settings = SubscriberSettings.of(worker.events(), worker.replayIfAny());
    var subscriber = new KvEventSubscriber(sockets, gateway.loop(), settings, blocks);
    var listened = new ListenedEvents(blocks, subscriber);
    gateway.hear(name, listened);
    return listened;
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
    var messages =
        Map.of(
            "malformed", stats.malformed(),
            "too_much", stats.excesses(),
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
  }
}
