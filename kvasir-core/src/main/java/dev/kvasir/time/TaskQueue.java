package dev.kvasir.time;

import static java.util.Objects.requireNonNull;

import dev.kvasir.Nullable;
import java.time.Duration;
import java.util.Arrays;
import java.util.NoSuchElementException;

/**
 * The tasks of one {@link EventLoop} in the order (time, lane, sequence).
 *
 * <p>A binary heap whose entries know their position, so a cancelled task is removed at once. It
 * must be used by one thread, or under one lock.
 */
public final class TaskQueue {
  private static final int GONE = -1;

  /** A delay below this needs no care about the end of time: a hundred years. */
  private static final long SOON_SECONDS = 100L * 365 * 24 * 3600;

  /** Stands behind the last entry, so that what has left is forgotten. */
  private final Entry nothing = new Entry(Long.MAX_VALUE, 0, 0, () -> {});

  private Entry[] heap = new Entry[16];
  private int size;
  private long sequence;

  /**
   * The time at which a delay that begins now ends. A delay beyond the range of a long, 292 years,
   * ends at {@code Long.MAX_VALUE}, which means "never".
   */
  public static long due(long nowNanos, Duration delay) {
    if (delay.isNegative()) throw new IllegalArgumentException("negative delay " + delay);
    if (delay.toSeconds() < SOON_SECONDS && nowNanos < Long.MAX_VALUE / 2) {
      return nowNanos + delay.toNanos();
    }
    Duration left = Duration.ofNanos(Long.MAX_VALUE - nowNanos);
    return delay.compareTo(left) < 0 ? nowNanos + delay.toNanos() : Long.MAX_VALUE;
  }

  /** The same for a delay in nanoseconds. */
  static long due(long nowNanos, long delay) {
    if (delay < 0) throw new IllegalArgumentException("negative delay of " + delay + " ns");
    return delay > Long.MAX_VALUE - nowNanos ? Long.MAX_VALUE : nowNanos + delay;
  }

  /** Adds a task to the first lane, behind those that are due at the same time or before. */
  public Timer add(long dueNanos, Runnable task) {
    return add(dueNanos, 0, task);
  }

  /** Adds a task behind those of its lane and of lower lanes that are due at the same time. */
  public Timer add(long dueNanos, int lane, Runnable task) {
    Entry entry = new Entry(dueNanos, lane, sequence++, requireNonNull(task));
    if (size == heap.length) heap = Arrays.copyOf(heap, 2 * size);
    rise(entry, size++);
    return entry;
  }

  /** When the first task is due; the end of time if there is none. */
  public long nextNanos() {
    return size == 0 ? Long.MAX_VALUE : heap[0].dueNanos;
  }

  /** The first task, which stays; null if there is none. */
  public @Nullable Runnable first() {
    return size == 0 ? null : heap[0].task;
  }

  /** Takes the first task out. */
  public Runnable remove() {
    if (size == 0) throw new NoSuchElementException("no task waits");
    Entry first = heap[0];
    removeEntry(first);
    return first.task;
  }

  public int size() {
    return size;
  }

  /** The last entry fills the gap, and goes down or up from there. */
  private void removeEntry(Entry entry) {
    int gap = entry.place;
    entry.place = GONE;
    Entry last = heap[--size];
    heap[size] = nothing;
    if (last == entry) return;
    sink(last, gap);
    rise(last, last.place);
  }

  private void rise(Entry entry, int from) {
    int place = from;
    while (place > 0) {
      Entry parent = heap[(place - 1) >>> 1];
      if (parent.isBefore(entry)) break;
      int above = parent.place;
      put(parent, place);
      place = above;
    }
    put(entry, place);
  }

  private void sink(Entry entry, int from) {
    int place = from;
    for (int child = 2 * place + 1; child < size; child = 2 * place + 1) {
      int right = child + 1;
      if (right < size && heap[right].isBefore(heap[child])) child = right;
      if (entry.isBefore(heap[child])) break;
      put(heap[child], place);
      place = child;
    }
    put(entry, place);
  }

  private void put(Entry entry, int place) {
    heap[place] = entry;
    entry.place = place;
  }

  private final class Entry implements Timer {
    private final long dueNanos;
    private final int lane;
    private final long sequence;
    private final Runnable task;
    private int place = GONE;

    Entry(long dueNanos, int lane, long sequence, Runnable task) {
      this.dueNanos = dueNanos;
      this.lane = lane;
      this.sequence = sequence;
      this.task = task;
    }

    boolean isBefore(Entry other) {
      if (dueNanos != other.dueNanos) return dueNanos < other.dueNanos;
      return lane != other.lane ? lane < other.lane : sequence < other.sequence;
    }

    @Override
    public void cancel() {
      if (place != GONE) removeEntry(this);
    }
  }
}
