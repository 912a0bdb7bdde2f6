package dev.kvasir.tiers.host;

import dev.kvasir.Nullable;
import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The copies that wait for a store's threads, or are being made: bounded, loads before stores.
 *
 * <p>It never waits for a thread that copies, so the loop may hand in at any time: what there is no
 * room for is answered at once. One task in four is a store if any waits, so that loads cannot
 * starve them. A slot takes part in one copy at a time, but that a slot below may be loaded into
 * several slots above at once: the page behind a slot above is part of each copy.
 */
public final class CopyQueue {
  private static final int STORE_TURN = 4;

  /** Direction of a copy. */
  public enum Kind {
    LOAD,
    STORE
  }

  /** One copy of one call. */
  public record Task(Kind kind, BlockCopy copy, StoreCall call, int index) {}

  private final int tasksMax;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Map<Kind, Deque<Task>> waiting = new EnumMap<>(Kind.class);
  private final Map<Kind, Integer> unfinished = new EnumMap<>(Kind.class);
  private final Set<Task> running = new LinkedHashSet<>();
  private final Map<Integer, Integer> above = new TreeMap<>();
  private final Map<Integer, Integer> loading = new TreeMap<>();
  private final Map<Integer, Integer> storing = new TreeMap<>();
  private int turn;
  private long refusals;
  private boolean closed;

  /** A queue for that many loads and as many stores, those being made included. */
  public CopyQueue(int tasksMax) {
    this.tasksMax = tasksMax;
    for (var kind : Kind.values()) {
      waiting.put(kind, new ArrayDeque<>());
      unfinished.put(kind, 0);
    }
  }

  /** Submits the copies; those that do not fit are refused at once. */
  public void submit(Kind kind, List<BlockCopy> copies, StoreCall call) {
    var refused = new LinkedHashMap<Integer, String>();
    lock.lock();
    try {
      for (int i = 0; i < copies.size(); i++) {
        var copy = copies.get(i);
        var reason = refusal(kind, copy);
        if (reason != null) {
          refused.put(i, reason);
          continue;
        }
        occupy(kind, copy);
        unfinished.merge(kind, 1, Integer::sum);
        deque(kind).add(new Task(kind, copy, call, i));
      }
      refusals += refused.size();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    refused.forEach((i, reason) -> call.answer(i, new CopyOutcome.Refused(reason)));
  }

  private @Nullable String refusal(Kind kind, BlockCopy copy) {
    if (closed) return "the store is closed";
    if (count(kind) >= tasksMax) return "queue full: " + tasksMax + " " + kind + " copies wait";
    if (above.containsKey(copy.above())) return "slot " + copy.above() + " above is in use";
    if (storing.containsKey(copy.below())) return "slot " + copy.below() + " is being written";
    if (kind == Kind.STORE && loading.containsKey(copy.below())) {
      return "slot " + copy.below() + " is being read";
    }
    return null;
  }

  /** Waits for the next tasks of one kind, at most {@code max}; none once the queue is closed. */
  List<Task> next(int max) {
    lock.lock();
    try {
      while (!closed && waits() == 0) changed.awaitUninterruptibly();
      var tasks = new ArrayList<Task>();
      if (closed) return tasks;
      turn++;
      var first = turn % STORE_TURN == 0 ? Kind.STORE : Kind.LOAD;
      var kind = deque(first).isEmpty() ? other(first) : first;
      while (tasks.size() < max && !deque(kind).isEmpty()) tasks.add(deque(kind).remove());
      running.addAll(tasks);
      return tasks;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Frees the task's slots and its room in the queue, then answers it; not if it was abandoned, for
   * then it has its answer.
   */
  public void answer(Task task, CopyOutcome outcome) {
    lock.lock();
    try {
      if (!running.remove(task)) return;
      unfinished.merge(task.kind(), -1, Integer::sum);
      vacate(above, task.copy().above());
      vacate(task.kind() == Kind.STORE ? storing : loading, task.copy().below());
    } finally {
      lock.unlock();
    }
    task.call().answer(task.index(), outcome);
  }

  /** Returns how many copies it could not take. */
  public long refusals() {
    lock.lock();
    try {
      return refusals;
    } finally {
      lock.unlock();
    }
  }

  /** Returns how many copies wait or are being made. */
  public int depth() {
    lock.lock();
    try {
      return count(Kind.LOAD) + count(Kind.STORE);
    } finally {
      lock.unlock();
    }
  }

  /** Takes no more, and returns what nobody has begun, to be answered by the caller. */
  public List<Task> close() {
    lock.lock();
    try {
      closed = true;
      var left = new ArrayList<Task>();
      for (var deque : waiting.values()) {
        left.addAll(deque);
        deque.clear();
      }
      running.addAll(left);
      changed.signalAll();
      return left;
    } finally {
      lock.unlock();
    }
  }

  /** Returns the copies that are being made and have no answer. */
  public List<Task> running() {
    lock.lock();
    try {
      return List.copyOf(running);
    } finally {
      lock.unlock();
    }
  }

  private void occupy(Kind kind, BlockCopy copy) {
    above.merge(copy.above(), 1, Integer::sum);
    (kind == Kind.STORE ? storing : loading).merge(copy.below(), 1, Integer::sum);
  }

  private static void vacate(Map<Integer, Integer> uses, int slot) {
    uses.computeIfPresent(slot, (_, count) -> count == 1 ? null : count - 1);
  }

  private int waits() {
    return deque(Kind.LOAD).size() + deque(Kind.STORE).size();
  }

  private int count(Kind kind) {
    return unfinished.getOrDefault(kind, 0);
  }

  private Deque<Task> deque(Kind kind) {
    var deque = waiting.get(kind);
    if (deque == null) throw new IllegalStateException("no queue for " + kind);
    return deque;
  }

  private static Kind other(Kind kind) {
    return kind == Kind.LOAD ? Kind.STORE : Kind.LOAD;
  }
}
