package dev.kvasir.sim;

import dev.kvasir.time.EventLoop;
import dev.kvasir.time.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A time of an instance's own, which goes on when it is told to.
 *
 * <p>It is never ahead when the cluster asks something; where it may be behind, that is done when
 * the instance has come to that time. What the instance tells by itself waits to be delivered.
 */
final class OwnClock implements InstanceClock {
  /** What the instance does comes after all that the cluster asks at the same time. */
  private static final int DOING = 1;

  private record Note(long nanos, Runnable news) {}

  private final EventLoop cluster;
  private final VirtualLoop own = new VirtualLoop();
  private final EventLoop doing = own.lane(DOING);
  private final List<Note> notes = new ArrayList<>();
  private final RouterVisibility sight;
  private boolean isAsked;

  OwnClock(EventLoop cluster, RouterVisibility sight) {
    this.cluster = cluster;
    this.sight = sight;
  }

  @Override
  public EventLoop loop() {
    return doing;
  }

  @Override
  public void ask(Runnable task) {
    own.after(Duration.ofNanos(cluster.nanos() - own.nanos()), task);
    if (sight == RouterVisibility.BLIND) return;
    isAsked = true;
    own.step();
    isAsked = false;
  }

  @Override
  public void tell(Runnable news) {
    if (isAsked) news.run();
    else notes.add(new Note(own.nanos(), news));
  }

  /** When the instance has something to do next; the end of time if it has not. */
  long nextNanos() {
    return own.nextNanos();
  }

  /** Does what is due up to that time, so much at most, and answers how much that was. */
  int run(long endNanos, int eventsMax) {
    int events = 0;
    for (; events < eventsMax && own.nextNanos() <= endNanos; events++) own.step();
    return events;
  }

  /** Lets the time pass in which the instance had nothing to do. */
  void comeTo(long nanos) {
    own.runUntil(nanos);
  }

  /** Puts what was told where it belongs in the cluster's time, and answers how much that was. */
  int deliver() {
    for (var note : notes) {
      long ahead = note.nanos() - cluster.nanos();
      cluster.after(Duration.ofNanos(Math.max(0, ahead)), note.news());
    }
    int delivered = notes.size();
    notes.clear();
    return delivered;
  }
}
