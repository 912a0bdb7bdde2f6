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
 */
public final class KvFeed {
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

  private record Batch(long stamp, List<KvEvent> events) {}

  private final EventLoop loop;
  private final Limits limits;
  private final PrefixIndex index;
  private final int instance;
  private final Replay replay;
  private final TreeMap<Long, Batch> early = new TreeMap<>();
  private @Nullable Timer giveUp;
  private boolean begun;
  private long next;
  private long lastStamp;
  private long duplicates;
  private long gaps;
  private long restarts;

  public KvFeed(EventLoop loop, Limits limits, PrefixIndex index, int instance, Replay replay) {
    this.loop = loop;
    this.limits = limits;
    this.index = index;
    this.instance = instance;
    this.replay = replay;
  }

  /** Batches that came again. */
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
   * @param sequence its number; the first of an instance may be any
   * @param stamp when it was made, on the clock of the instance
   */
  public void accept(long sequence, long stamp, List<KvEvent> events) {
    if (begun && sequence < next) {
      if (stamp <= lastStamp) {
        duplicates++;
        return;
      }
      restart(sequence);
    }
    if (!begun) {
      begun = true;
      next = sequence;
    }
    early.put(sequence, new Batch(stamp, List.copyOf(events)));
    drain();
    if (early.size() > limits.batchesMax()) skip();
    watch();
  }

  private void restart(long sequence) {
    restarts++;
    index.forget(instance);
    early.clear();
    next = sequence;
  }

  /** Applies what is next in turn. */
  private void drain() {
    for (var batch = early.remove(next); batch != null; batch = early.remove(next)) {
      for (var event : batch.events()) index.on(instance, event);
      lastStamp = Math.max(lastStamp, batch.stamp());
      next++;
    }
  }

  private void watch() {
    if (early.isEmpty()) {
      if (giveUp != null) giveUp.cancel();
      giveUp = null;
    } else if (giveUp == null) {
      giveUp = loop.after(limits.patience(), this::skip);
      replay.from(next);
    }
  }

  /** The missing batches will not come: what the index knows of the instance is worth nothing. */
  private void skip() {
    if (giveUp != null) giveUp.cancel();
    giveUp = null;
    if (early.isEmpty()) return;
    gaps++;
    index.forget(instance);
    next = early.firstKey();
    drain();
    watch();
  }
}
