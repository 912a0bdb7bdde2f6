package dev.kvasir.router;

import dev.kvasir.Nullable;
import dev.kvasir.kv.KvEvent;
import dev.kvasir.time.EventLoop;
import dev.kvasir.time.Timer;
import java.time.Duration;
import java.util.List;
import java.util.TreeMap;

/**
 * The numbered batches of events of one instance, brought into order for the index.
 *
 * <p>A batch that comes early waits for those before it, which the instance is asked to repeat.
 * When they do not come in time the index forgets the instance, since it no longer knows what was
 * removed, and goes on from the batch that waited. A number that goes back with a later stamp means
 * that the instance began anew.
 *
 * @param <E> an event, as the instance tells it: what it means may depend on those before it
 */
public final class KvFeed<E> {
  /** Takes the events of an instance in their order. */
  public interface Target<E> {
    void on(E event);

    /** Nothing that was told of the instance can be relied on any more. */
    void forget();
  }

  /** Asks an instance to repeat its batches from a number on. */
  @FunctionalInterface
  public interface Replay {
    void from(long sequence);
  }

  /** How much may wait, and for how long. */
  public record Limits(int batchesMax, Duration patience) {
    public static final Limits DEFAULT = new Limits(1_024, Duration.ofSeconds(2));

    public Limits {
      if (batchesMax < 1 || patience.isNegative()) {
        throw new IllegalArgumentException(batchesMax + " batches for " + patience);
      }
    }
  }

  private record Batch<E>(long stamp, List<E> events) {}

  private final EventLoop loop;
  private final Limits limits;
  private final Target<E> target;
  private final Replay replay;
  private final TreeMap<Long, Batch<E>> early = new TreeMap<>();
  private @Nullable Timer giveUp;
  private long next;

  /** The batch that was last asked for. */
  private long missing;

  private long lastStamp = Long.MIN_VALUE;

  /** The first batch seen of the instance's present life, and the last stamp of the former. */
  private long bornSequence;

  private long bornStamp = Long.MIN_VALUE;
  private long formerStamp = Long.MIN_VALUE;
  private long duplicates;
  private long gaps;
  private long restarts;

  public KvFeed(EventLoop loop, Limits limits, Target<E> target, Replay replay) {
    this.loop = loop;
    this.limits = limits;
    this.target = target;
    this.replay = replay;
  }

  /** Takes what an instance tells into the index. */
  public static Target<KvEvent> into(PrefixIndex index, int instance) {
    return new Target<>() {
      @Override
      public void on(KvEvent event) {
        index.on(instance, event);
      }

      @Override
      public void forget() {
        index.forget(instance);
      }
    };
  }

  /** Batches that came again, or from before the instance began anew. */
  public long duplicates() {
    return duplicates;
  }

  /** How often batches were missing for good. */
  public long gaps() {
    return gaps;
  }

  public long restarts() {
    return restarts;
  }

  /** How many batches wait for earlier ones. */
  public int waiting() {
    return early.size();
  }

  /**
   * Takes a batch in.
   *
   * @param sequence its number, from 0 on in each life of the instance
   * @param stamp when it was made, on the clock of the instance
   */
  public void accept(long sequence, long stamp, List<E> events) {
    if (isFormer(sequence, stamp) || (sequence < next && stamp <= lastStamp)) {
      duplicates++;
      return;
    }
    if (sequence < next) restart(sequence, stamp);
    early.put(sequence, new Batch<>(stamp, List.copyOf(events)));
    drain();
    if (early.size() > limits.batchesMax()) skip();
    watch();
  }

  /** Whether the batch is from before the instance began anew. */
  private boolean isFormer(long sequence, long stamp) {
    return sequence >= bornSequence ? stamp < bornStamp : stamp <= formerStamp;
  }

  private void restart(long sequence, long stamp) {
    restarts++;
    bornSequence = sequence;
    bornStamp = stamp;
    formerStamp = lastStamp;
    target.forget();
    early.clear();
    next = 0;
  }

  /** Applies what is next in turn. */
  private void drain() {
    for (var batch = early.remove(next); batch != null; batch = early.remove(next)) {
      for (var event : batch.events()) target.on(event);
      lastStamp = Math.max(lastStamp, batch.stamp());
      next++;
    }
  }

  /** Whenever another batch is the missing one, it is asked for, and has its own time to come. */
  private void watch() {
    if (giveUp != null && !early.isEmpty() && missing == next) return;
    if (giveUp != null) giveUp.cancel();
    giveUp = null;
    if (early.isEmpty()) return;
    missing = next;
    giveUp = loop.after(limits.patience(), this::skip);
    replay.from(next);
  }

  /** The missing batches will not come: what the index knows of the instance is worth nothing. */
  private void skip() {
    gaps++;
    target.forget();
    next = early.firstKey();
    drain();
    watch();
  }
}
