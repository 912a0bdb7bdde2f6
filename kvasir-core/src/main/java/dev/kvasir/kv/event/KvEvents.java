package dev.kvasir.kv.event;

import java.util.ArrayList;
import java.util.List;

/** Passes KV events to subscribers; without subscribers it costs nothing. */
public final class KvEvents {
  private final List<KvSubscription> subscriptions = new ArrayList<>();
  private long published;
  private boolean observed;

  /**
   * Begins to listen: at most {@code eventsMax} events wait to be read, older ones are dropped.
   *
   * @param ready runs when the first event comes to wait, while a pool is at work: it must not call
   *     the pool but schedule the reading
   */
  public KvSubscription subscribe(int eventsMax, Runnable ready) {
    if (eventsMax < 1) throw new IllegalArgumentException(eventsMax + " events at most");
    var subscription = new KvSubscription(this, eventsMax, published, ready);
    subscriptions.add(subscription);
    observed = true;
    return subscription;
  }

  /** Returns the number of events that there were while anybody listened. */
  public long published() {
    return published;
  }

  /** Returns whether somebody observes events; if not, none need be created. */
  public boolean isObserved() {
    return observed;
  }

  public void publish(KvEvent event) {
    published++;
    for (int i = 0; i < subscriptions.size(); i++) subscriptions.get(i).offer(event);
  }

  void leave(KvSubscription subscription) {
    subscriptions.remove(subscription);
    observed = !subscriptions.isEmpty();
  }
}
