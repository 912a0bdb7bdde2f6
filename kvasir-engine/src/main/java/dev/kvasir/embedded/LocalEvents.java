package dev.kvasir.embedded;

import dev.kvasir.events.WorkerEvents;
import dev.kvasir.kv.event.KvEvent;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.KvSubscription;
import dev.kvasir.model.ModelShape;
import dev.kvasir.router.index.BlockUnits;
import dev.kvasir.time.EventLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;

/**
 * The KV events of an engine on their way to the router of this process, from one loop to the
 * other: under the names that its blocks have, and in their order.
 *
 * <p>One batch is with the router at a time; the rest waits in a subscription, which is bounded.
 * Where that loses some, the router forgets the engine.
 */
public final class LocalEvents implements WorkerEvents, AutoCloseable {
  private static final int EVENTS_MAX = 100_000;
  private static final int EVENTS_AT_ONCE = 1_000;

  private final EventLoop engine;
  private final EventLoop router;
  private final BlockUnits.Target index;

  /** On the loop of the engine. */
  private final List<Feed> feeds = new ArrayList<>();

  // On the loop of the router.

  private long batches;
  private long gaps;
  private double lagSeconds = -1;

  private LocalEvents(EventLoop engine, EventLoop router, BlockUnits.Target index) {
    this.engine = engine;
    this.router = router;
    this.index = index;
  }

  /**
   * Begins to tell of an engine.
   *
   * @param below the events of the tiers below the engine's own memory
   * @param router its loop
   * @param index takes what happens, on that loop
   */
  public static LocalEvents start(
      EmbeddedEngine engine, List<KvEvents> below, EventLoop router, BlockUnits.Target index) {
    var events = new LocalEvents(engine.loop(), router, index);
    router.execute(() -> index.grain(ModelShape.BLOCK_TOKENS));
    engine
        .loop()
        .execute(
            () -> {
              events.feeds.add(events.new Feed(engine.events()));
              for (var each : below) events.feeds.add(events.new Feed(each));
            });
    return events;
  }

  /** Feed of what becomes of the blocks of one or more pools; belongs to the loop of the engine. */
  private final class Feed {
    private final KvSubscription subscription;
    private boolean busy;

    Feed(KvEvents events) {
      // A pool is in the middle of its work when it calls.
      this.subscription = events.subscribe(EVENTS_MAX, () -> engine.execute(this::forward));
    }

    private void forward() {
      if (busy) return;
      var batch = subscription.poll(EVENTS_AT_ONCE);
      if (batch.isEmpty()) return;
      busy = true;
      long nanos = System.nanoTime();
      hand(
          router,
          () -> {
            apply(batch, nanos);
            hand(engine, this::forwarded);
          });
    }

    private void forwarded() {
      busy = false;
      forward();
    }
  }

  private static void hand(EventLoop loop, Runnable task) {
    try {
      loop.execute(task);
    } catch (RejectedExecutionException e) {
      // It is closed: nobody is left who would use it.
    }
  }

  private void apply(List<KvEvent> batch, long nanos) {
    batches++;
    lagSeconds = (System.nanoTime() - nanos) / 1e9;
    for (var event : batch) {
      if (event instanceof KvEvent.Lost) gaps++;
      index.on(event);
    }
  }

  /** Nothing is missed within a process. */
  @Override
  public void check() {}

  @Override
  public Counts counts() {
    return new Counts(batches, 1, gaps, 0, 0, lagSeconds, Map.of(), Map.of());
  }

  @Override
  public void close() {
    hand(engine, () -> feeds.forEach(feed -> feed.subscription.close()));
  }
}
