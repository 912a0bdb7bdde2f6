package dev.kvasir.kv;

import dev.kvasir.Nullable;

/** The events one subscriber has not read yet: the latest ones, in a ring of fixed size. */
public final class KvSubscription {
  private final KvEvents source;
  private final @Nullable KvEvent[] ring;
  private final Runnable ready;

  /** Numbers of the next event to read, and of the next to come. */
  private long next;

  private long end;
  private long lost;
  private boolean closed;

  KvSubscription(KvEvents source, int eventsMax, long begin, Runnable ready) {
    this.source = source;
    this.ring = new KvEvent[eventsMax];
    this.next = begin;
    this.end = begin;
    this.ready = ready;
  }

  /** The next event; {@link KvEvent.Lost} first where some were dropped; null when none waits. */
  public @Nullable KvEvent poll() {
    long oldest = end - ring.length;
    if (next < oldest) {
      var gap = new KvEvent.Lost(next, oldest - next);
      lost += gap.count();
      next = oldest;
      return gap;
    }
    if (next == end) return null;
    int at = (int) (next++ % ring.length);
    var event = ring[at];
    ring[at] = null;
    return event;
  }

  /** How many events wait to be read. */
  public int waiting() {
    return (int) Math.min(end - next, ring.length);
  }

  /** How many events were dropped unread, as far as the reader has been told. */
  public long lost() {
    return lost;
  }

  /** Ends the subscription; what waits is dropped. May be called more than once. */
  public void close() {
    if (closed) return;
    closed = true;
    next = end;
    source.leave(this);
  }

  void offer(KvEvent event) {
    boolean wasEmpty = next == end;
    ring[(int) (end++ % ring.length)] = event;
    if (wasEmpty) ready.run();
  }
}
