package dev.kvasir.kv;

import dev.kvasir.kv.evict.policy.EndedRequest;
import dev.kvasir.kv.evict.policy.EvictionPolicy;
import dev.kvasir.kv.evict.policy.EvictionSlots;
import dev.kvasir.kv.evict.policy.LearnedStats;
import dev.kvasir.kv.evict.policy.ReturnHint;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import java.util.Arrays;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.function.LongSupplier;

/**
 * An eviction policy with limits: expired blocks are evicted first, and pinned ones last.
 *
 * <pre>
 *   cached --ttl over--> expired: dropped, or evicted before all others
 *     |  ^
 *  pinned  pin over      withheld: the order takes the block for held
 *     v  |
 *   withheld --nothing else is cached--> evicted, released longest ago first
 * </pre>
 *
 * A pin never blocks a request: if only pinned blocks are left, they are evicted. The time to live
 * counts from the last release, also for pinned blocks.
 */
final class LimitedEviction implements EvictionPolicy {
  private static final int HERE = 1;
  private static final int CACHED = 2;
  private static final int WITHHELD = 4;

  /** More entries than pins may be in the queue, since those of pins made longer stay in it. */
  private static final int QUEUE_MORE = 64;

  private record Pin(long until, int slot) implements Comparable<Pin> {
    @Override
    public int compareTo(Pin other) {
      int byTime = Long.compare(until, other.until);
      return byTime != 0 ? byTime : Integer.compare(slot, other.slot);
    }
  }

  private final EvictionPolicy order;
  private final EvictionSlots slots;
  private final LongSupplier clock;
  private final long ttlNanos;
  private final int pinnedMax;
  private final byte[] marks;
  private final long[] releasedAt;

  /** For each slot when its pin ends; {@link Long#MIN_VALUE} for none. */
  private final long[] pinnedUntil;

  /** Cached slots, the one released longest ago first: for each, and the head, before and after. */
  private final int[] links;

  private final PriorityQueue<Pin> pins = new PriorityQueue<>();
  private int pinned;
  private long pinsRefused;
  private long pinsBroken;
  private long expired;

  LimitedEviction(
      EvictionPolicy order, EvictionSlots slots, EvictionLimits limits, LongSupplier nanos) {
    this.order = order;
    this.slots = slots;
    this.clock = nanos;
    this.ttlNanos = limits.ttl().isZero() ? Long.MAX_VALUE : limits.ttl().toNanos();
    int count = slots.count();
    this.pinnedMax = (int) (slots.kept() * limits.pinnedShare());
    this.marks = new byte[count];
    this.releasedAt = new long[count];
    this.pinnedUntil = new long[count];
    this.links = new int[2 * (count + 1)];
    Arrays.fill(pinnedUntil, Long.MIN_VALUE);
    link(count, count);
  }

  @Override
  public void registered(int slot, TokenBlock block) {
    marks[slot] = HERE;
    order.registered(slot, block);
  }

  @Override
  public void cached(int slot) {
    releasedAt[slot] = clock.getAsLong();
    marks[slot] |= CACHED;
    int head = slots.count();
    link(links[2 * head], slot);
    link(slot, head);
    endPins();
    if (pinnedUntil[slot] == Long.MIN_VALUE) order.cached(slot);
    else marks[slot] |= WITHHELD;
  }

  @Override
  public void held(int slot) {
    boolean isWithheld = isWithheld(slot);
    uncache(slot);
    if (!isWithheld) order.held(slot);
  }

  @Override
  public void heldUnused(int slot) {
    boolean isWithheld = isWithheld(slot);
    uncache(slot);
    if (!isWithheld) order.heldUnused(slot);
  }

  @Override
  public int evict() {
    int slot = expired();
    if (slot != NONE) return slot;
    slot = order.evict();
    if (slot == NONE) {
      slot = first();
      if (slot == NONE) return NONE;
      pinsBroken++;
      order.removed(slot);
    }
    forget(slot);
    return slot;
  }

  @Override
  public int expired() {
    endPins();
    int slot = first();
    if (slot == NONE || clock.getAsLong() - releasedAt[slot] < ttlNanos) return NONE;
    expired++;
    if (!isWithheld(slot)) order.heldUnused(slot);
    order.removed(slot);
    forget(slot);
    return slot;
  }

  @Override
  public void removed(int slot) {
    order.removed(slot);
    unpin(slot);
    marks[slot] = 0;
  }

  @Override
  public void ended(EndedRequest end) {
    order.ended(end);
    long nanos = end.hint().pinNanos();
    if (nanos == 0) return;
    endPins();
    long until = clock.getAsLong() + nanos;
    for (int i = 0; i < end.blocks(); i++) {
      int slot = slots.slotOf(end.names().name(i));
      if (slot != NONE && (marks[slot] & HERE) != 0) pin(slot, until);
    }
  }

  private void pin(int slot, long until) {
    if (pinnedUntil[slot] >= until) return;
    if (pinnedUntil[slot] == Long.MIN_VALUE) {
      if (pinned == pinnedMax) {
        pinsRefused++;
        return;
      }
      pinned++;
    }
    pinnedUntil[slot] = until;
    if (pins.size() > 2 * pinnedMax + QUEUE_MORE) pins.removeIf(pin -> !isCurrent(pin));
    pins.add(new Pin(until, slot));
    if ((marks[slot] & (CACHED | WITHHELD)) != CACHED) return;
    order.heldUnused(slot);
    marks[slot] |= WITHHELD;
  }

  private boolean isCurrent(Pin pin) {
    return pinnedUntil[pin.slot()] == pin.until();
  }

  private void endPins() {
    while (!pins.isEmpty() && pins.element().until() <= clock.getAsLong()) {
      var pin = pins.remove();
      if (!isCurrent(pin)) continue;
      unpin(pin.slot());
      if (!isWithheld(pin.slot())) continue;
      marks[pin.slot()] &= ~WITHHELD;
      order.cached(pin.slot());
    }
  }

  private void unpin(int slot) {
    if (pinnedUntil[slot] == Long.MIN_VALUE) return;
    pinnedUntil[slot] = Long.MIN_VALUE;
    pinned--;
  }

  private void forget(int slot) {
    uncache(slot);
    unpin(slot);
    marks[slot] = 0;
  }

  private void uncache(int slot) {
    marks[slot] &= ~(CACHED | WITHHELD);
    link(links[2 * slot], links[2 * slot + 1]);
  }

  private boolean isWithheld(int slot) {
    return (marks[slot] & WITHHELD) != 0;
  }

  private int first() {
    int first = links[2 * slots.count() + 1];
    return first == slots.count() ? NONE : first;
  }

  private void link(int before, int after) {
    links[2 * before + 1] = after;
    links[2 * after] = before;
  }

  EvictionLimits.Stats stats() {
    return new EvictionLimits.Stats(pinned, pinsRefused, pinsBroken, expired);
  }

  @Override
  public void updateHint(BlockHash last, ReturnHint hint) {
    order.updateHint(last, hint);
  }

  @Override
  public double chance(BlockHash block) {
    return order.chance(block);
  }

  @Override
  public byte[] save() {
    return order.save();
  }

  @Override
  public boolean restore(byte[] saved) {
    return order.restore(saved);
  }

  @Override
  public Optional<LearnedStats> learned() {
    return order.learned();
  }
}
