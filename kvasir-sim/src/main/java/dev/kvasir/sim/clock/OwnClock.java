package dev.kvasir.sim.clock;

import dev.kvasir.time.EventLoop;
import dev.kvasir.time.VirtualLoop;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * A time of an instance's own, which goes on when it is told to.
 *
 * <p>It is never ahead when the cluster asks something; where it may be behind, that is done when
 * the instance has come to that time. What the instance tells by itself waits to be delivered.
 */
public final class OwnClock implements InstanceClock {
  /** Lane of the instance's own work, which comes after all that the cluster asks at that time. */
  private static final int DOING = 1;

  /** Task that is due at a time. */
  private record Note(long nanos, Runnable task) {}

  private final EventLoop cluster;
  private final VirtualLoop own = new VirtualLoop();

  /** Commands of the cluster for times that the instance has not reached, in order. */
  private final ArrayDeque<Note> commands = new ArrayDeque<>();

  private final EventLoop doing = own.lane(DOING);
  private final List<Note> notes = new ArrayList<>();
  private final RouterVisibility visibility;
  private boolean isInCommand;

  public OwnClock(EventLoop cluster, RouterVisibility visibility) {
    this.cluster = cluster;
    this.visibility = visibility;
  }

  @Override
  public EventLoop loop() {
    return doing;
  }

  @Override
  public void runInInstance(Runnable task) {
    if (visibility == RouterVisibility.BLIND) {
      commands.add(new Note(cluster.nanos(), task));
      return;
    }
    own.passTo(cluster.nanos());
    isInCommand = true;
    task.run();
    isInCommand = false;
  }

  @Override
  public void runInCluster(Runnable news) {
    if (isInCommand) news.run();
    else notes.add(new Note(own.nanos(), news));
  }

  /** When the instance has something to do next; the end of time if it has not. */
  long nextNanos() {
    return Math.min(commandNanos(), own.nextNanos());
  }

  private long commandNanos() {
    var first = commands.peek();
    return first == null ? Long.MAX_VALUE : first.nanos();
  }

  /** Does what is due up to that time, so much at most, and answers how much that was. */
  int run(long endNanos, int eventsMax) {
    int events = 0;
    for (; events < eventsMax; events++) {
      long nextCommand = commandNanos();
      long nextOwn = own.nextNanos();
      if (Math.min(nextCommand, nextOwn) > endNanos) break;
      if (nextCommand <= nextOwn) answer(commands.remove());
      else own.step();
    }
    return events;
  }

  private void answer(Note note) {
    own.passTo(note.nanos());
    note.task().run();
  }

  /** Lets the time pass in which the instance had nothing to do. */
  void comeTo(long nanos) {
    while (nextNanos() <= nanos) run(nanos, Integer.MAX_VALUE);
    own.runUntil(nanos);
  }

  /**
   * Puts what was told where it belongs in the cluster's time, and answers how much that was. What
   * is late for a cluster that does not look is done at once, where it would be the next anyway.
   */
  int deliver() {
    int delivered = 0;
    for (int i = 0; i < notes.size(); i++) {
      var note = notes.get(i);
      long ahead = note.nanos() - cluster.nanos();
      if (ahead <= 0 && visibility == RouterVisibility.BLIND) {
        note.task().run();
      } else {
        cluster.afterNanos(Math.max(0, ahead), note.task());
        delivered++;
      }
    }
    notes.clear();
    return delivered;
  }
}
