package dev.kvasir.net.server;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;

/**
 * The bytes of all bodies of a server, and the turns of those who have work done over theirs; from
 * any thread.
 */
public final class Bodies {
  /** Less than there are threads for such work. */
  static final int AT_ONCE = Math.clamp(Runtime.getRuntime().availableProcessors() / 2, 1, 8);

  /** One who has work done, and what is to follow it. */
  private static final class Turns {
    final ArrayDeque<Runnable> waiting = new ArrayDeque<>();
    int running;
  }

  private final ByteBudget budget;
  private final Map<String, Turns> turns = new HashMap<>();

  public Bodies(long bytesMax) {
    budget = new ByteBudget(bytesMax);
  }

  /** The share of one request, which has nothing yet. */
  public BodyShare share(String holder) {
    return new BodyShare(this, holder);
  }

  /** As many as are in use. */
  public long reserved() {
    return budget.reserved();
  }

  ByteBudget budget() {
    return budget;
  }

  /**
   * Starts the work, or keeps it until other work of the holder has ended: half of the processors
   * are enough for one holder. Whoever is started has to call {@link #ended}.
   */
  void start(String holder, Runnable work) {
    synchronized (turns) {
      var own = turns.computeIfAbsent(holder, _ -> new Turns());
      if (own.running == AT_ONCE) {
        own.waiting.add(work);
        return;
      }
      own.running++;
    }
    work.run();
  }

  void ended(String holder) {
    Runnable next;
    synchronized (turns) {
      var own = turns.get(holder);
      if (own == null) throw new IllegalStateException("no work of " + holder + " is running");
      next = own.waiting.poll();
      if (next == null && --own.running == 0) turns.remove(holder);
    }
    if (next != null) next.run();
  }
}
