package dev.kvasir.kv.event;

import dev.kvasir.Nullable;
import java.util.ArrayList;
import java.util.List;

/**
 * The events one subscriber has not read yet: the latest ones, up to a fixed number.
 *
 * <p>They wait in a ring that grows up to a bound, and restarts at its beginning when it is empty:
 * a reader that keeps up uses the same few entries, which stay in the CPU cache.
 */
public final class KvSubscription {
  private static final int EVENTS_AT_FIRST = 64;

  private final KvEvents source;
  private final int eventsMax;
  private final Runnable ready;
  private @Nullable KvEvent[] ring;
  private int first;
  private int waiting;

  /** The number of the next event that the reader has not received. */
  private long next;

  /** Number of events from there on that were dropped unread. */
  private long dropped;

  private long lost;

  /** Flag that is true if the last wake-up call returned. */
  private boolean woken = true;

  private long wakeUpsFailed;
  private boolean closed;

  KvSubscription(KvEvents source, int eventsMax, long begin, Runnable ready) {
    this.source = source;
    this.eventsMax = eventsMax;
    this.ring = new KvEvent[Math.min(EVENTS_AT_FIRST, eventsMax)];
    this.next = begin;
    this.ready = ready;
  }

  /** The next event; {@link KvEvent.Lost} first where some were dropped; null when none waits. */
  public @Nullable KvEvent poll() {
    if (dropped > 0) {
      var gap = new KvEvent.Lost(next, dropped);
      next += dropped;
      lost += dropped;
      dropped = 0;
      return gap;
    }
    if (waiting == 0) return null;
    next++;
    return remove();
  }

  /** The next events, as {@link #poll} gives them, up to a limit. */
  public List<KvEvent> poll(int count) {
    var events = new ArrayList<KvEvent>(Math.min(count, waiting + 1));
    while (events.size() < count) {
      var event = poll();
      if (event == null) break;
      events.add(event);
    }
    return events;
  }

  /** Returns the number of events that wait to be read. */
  public int waiting() {
    return waiting;
  }

  /** Returns the number of events that were dropped unread, as far as the reader knows. */
  public long lost() {
    return lost;
  }

  /** Returns the number of wake-up calls that threw; after each, the next event called again. */
  public long wakeUpsFailed() {
    return wakeUpsFailed;
  }

  /** Ends the subscription; what waits is dropped. May be called more than once. */
  public void close() {
    if (closed) return;
    closed = true;
    waiting = 0;
    dropped = 0;
    source.leave(this);
  }

  void offer(KvEvent event) {
    if (waiting == eventsMax) {
      remove();
      dropped++;
    } else if (waiting == ring.length) {
      grow();
    }
    ring[place(waiting++)] = event;
    if ((waiting == 1 && dropped == 0) || !woken) wake();
  }

  /**
   * A pool is in the middle of its work here, and other subscribers come next: what the wake-up
   * throws is counted, and the next event tries again.
   */
  private void wake() {
    woken = false;
    try {
      ready.run();
      woken = true;
    } catch (RuntimeException | Error failure) {
      wakeUpsFailed++;
    }
  }

  private @Nullable KvEvent remove() {
    var event = ring[first];
    ring[first] = null;
    first = --waiting == 0 ? 0 : place(1);
    return event;
  }

  private void grow() {
    @Nullable KvEvent[] grown = new KvEvent[(int) Math.min(eventsMax, 2L * waiting)];
    for (int i = 0; i < waiting; i++) grown[i] = ring[place(i)];
    ring = grown;
    first = 0;
  }

  /** The place of the event with that many events before it. */
  private int place(int before) {
    int place = first + before;
    return place < ring.length ? place : place - ring.length;
  }
}
