package dev.kvasir.sim.clock;

import dev.kvasir.kv.event.KvEvent;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.KvSubscription;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * News of the blocks of an instance, on its way to the router.
 *
 * <p>The router knows of it at once, for it is handed over before anybody looks. Until then it is
 * left to gather: many events together wait for memory once, and not each by itself.
 */
public final class CacheNews {
  private static final int EVENTS_MAX = 1 << 20;
  private static final int EVENTS_AT_ONCE = 256;

  private final KvSubscription subscription;
  private final Consumer<List<KvEvent>> listener;
  private final List<List<KvEvent>> gathered = new ArrayList<>();

  public CacheNews(KvEvents events, Consumer<List<KvEvent>> listener) {
    this.subscription = events.subscribe(EVENTS_MAX, () -> {});
    this.listener = listener;
  }

  /** Takes what has happened from the instance, which may then go on. */
  public void gather() {
    while (subscription.waiting() > 0) gathered.add(subscription.poll(EVENTS_AT_ONCE));
  }

  /** Tells the router what was gathered. */
  public void handOver() {
    for (int i = 0; i < gathered.size(); i++) listener.accept(gathered.get(i));
    gathered.clear();
  }
}
