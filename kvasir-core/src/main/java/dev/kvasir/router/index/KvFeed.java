package dev.kvasir.router.index;

import dev.kvasir.Nullable;
import dev.kvasir.kv.event.KvEvent;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.time.EventLoop;
import dev.kvasir.time.Timer;
import java.time.Duration;
import java.util.List;
import java.util.TreeMap;

/**
 * Puts the numbered event batches of one instance in order for the index.
 *
 * <p>A batch that comes early waits for those before it, which the instance is asked to repeat. If
 * they do not come in time, the index forgets the instance, since removals may be missing, and
 * continues from the batch that waited. If a number decreases with a later stamp, or repeats with
 * another stamp, the instance was restarted.
 *
 * @param <E> an event as the instance sends it; its meaning may depend on those before it
 */
public final class KvFeed<E> {
  /** Takes the events of an instance in their order. */
  public interface Target<E> {
    void on(E event);

    /** Nothing that was reported of the instance can be relied on any more. */
    void forget();
  }

  /** Asks an instance to repeat its batches from a number on. */
  @FunctionalInterface
  public interface Replay {
    void from(long sequence);
  }

  /** Limits on how many batches may wait, and for how long. */
  public record Limits(int batchesMax, Duration patience) {
    public static final Limits DEFAULT = new Limits(1_024, Duration.ofSeconds(2));

    public Limits {
      if (batchesMax < 1 || patience.isNegative()) {
        throw new IllegalArgumentException(batchesMax + " batches for " + patience);
      }
    }
  }

  private record Batch<E>(long stamp, List<E> events, Runnable left) {}

  /**
   * Progress of a feed, from which another feed can continue.
   *
   * @param next the number of the batch that is to come next
   * @param lastStamp the latest stamp
   * @param bornSequence the first batch seen of the instance's present life
   * @param bornStamp its stamp
   * @param formerStamp the last stamp of the life before
   * @param stampedFrom from which number on stamps are known
   * @param firstStamps the first of them
   * @param lastStamps the last of them, by number
   */
  @SuppressWarnings("ArrayRecordComponent") // handed on at once, never compared
  public record Position(
      long next,
      long lastStamp,
      long bornSequence,
      long bornStamp,
      long formerStamp,
      long stampedFrom,
      long[] firstStamps,
      long[] lastStamps) {
    /** Number of stamps of each kind. */
    public static final int STAMPS = KvFeed.STAMPS;

    public Position {
      if (next < 1 || firstStamps.length != STAMPS || lastStamps.length != STAMPS) {
        throw new IllegalArgumentException(
            "batch %d with %d and %d stamps"
                .formatted(next, firstStamps.length, lastStamps.length));
      }
    }
  }

  /** For how many batches at the beginning and at the end the time is remembered. */
  private static final int STAMPS = 1_024;

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

  /** The stamps of the first batches of the present life, and of the last ones, by number. */
  private final long[] firstStamps = new long[STAMPS];

  private final long[] lastStamps = new long[STAMPS];

  /** From which number on stamps were kept in the present life. */
  private long stampedFrom;

  /** Flag set if the next batch is taken whatever its number, since the right one is unknown. */
  private boolean anyNumber;

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

  /** Takes what an instance reports into the index. */
  public static BlockUnits.Target into(PrefixIndex index, int instance) {
    return new BlockUnits.Target() {
      @Override
      public void on(KvEvent event) {
        index.on(instance, event);
      }

      @Override
      public void forget() {
        index.forget(instance);
      }

      @Override
      public void grain(int tokens) {
        index.grain(instance, tokens);
      }

      @Override
      public void needsEnds() {
        index.needsEnds(instance);
      }

      @Override
      public void end(BlockHash unit) {
        index.end(instance, unit);
      }

      @Override
      public void noEnd(BlockHash unit) {
        index.noEnd(instance, unit);
      }
    };
  }

  /** Batches that came again, or from before the instance was restarted. */
  public long duplicates() {
    return duplicates;
  }

  /** Returns how often missing batches never came. */
  public long gaps() {
    return gaps;
  }

  public long restarts() {
    return restarts;
  }

  /** Returns how many batches wait for earlier ones. */
  public int waiting() {
    return early.size();
  }

  /** The number of the batch that is to come next. */
  public long next() {
    return next;
  }

  /** Returns how far it has come; null if it cannot say, since it has taken nothing yet. */
  public @Nullable Position position() {
    if (anyNumber || next == 0) return null;
    return new Position(
        next,
        lastStamp,
        bornSequence,
        bornStamp,
        formerStamp,
        stampedFrom,
        firstStamps.clone(),
        lastStamps.clone());
  }

  /** Goes on where another feed of the instance has come to, whose target is in this one's. */
  public void resume(Position from) {
    if (next > 0 || !early.isEmpty()) throw new IllegalStateException("at batch " + next);
    next = from.next();
    lastStamp = from.lastStamp();
    bornSequence = from.bornSequence();
    bornStamp = from.bornStamp();
    formerStamp = from.formerStamp();
    stampedFrom = from.stampedFrom();
    System.arraycopy(from.firstStamps(), 0, firstStamps, 0, STAMPS);
    System.arraycopy(from.lastStamps(), 0, lastStamps, 0, STAMPS);
  }

  /** The instance has reported nothing since it started: earlier reports are void. */
  public void beganAnew() {
    if (next == 0 && early.isEmpty()) return;
    restarts++;
    lose();
    next = 0;
  }

  /** Continues with the batch that comes next, since what was missed cannot be found out. */
  public void lost() {
    boolean knew = next > 0 || !early.isEmpty();
    if (knew) gaps++;
    lose();
    anyNumber = true;
  }

  private void lose() {
    target.forget();
    dropEarly();
    bornSequence = 0;
    bornStamp = Long.MIN_VALUE;
    formerStamp = Long.MIN_VALUE;
    lastStamp = Long.MIN_VALUE;
    next = 0;
    stampedFrom = 0;
    watch();
  }

  /**
   * Takes a batch in.
   *
   * @param sequence its number, from 0 on in each life of the instance
   * @param stamp when it was made, on the clock of the instance
   */
  public void accept(long sequence, long stamp, List<E> events) {
    accept(sequence, stamp, events, () -> {});
  }

  /**
   * Takes a batch in.
   *
   * @param left runs once, when the batch is no longer kept
   */
  public void accept(long sequence, long stamp, List<E> events, Runnable left) {
    if (anyNumber) beginAt(sequence);
    if (isKnown(sequence, stamp)) {
      duplicates++;
      left.run();
      return;
    }
    if (sequence < next) restart(sequence, stamp);
    var batch = new Batch<>(stamp, List.copyOf(events), left);
    if (sequence == next && early.isEmpty()) {
      apply(batch);
      watch();
      return;
    }
    var former = early.put(sequence, batch);
    if (former != null) former.left().run();
    drain();
    if (early.size() > limits.batchesMax()) skip();
    watch();
  }

  /** Returns whether the batch is from before the instance was restarted. */
  private boolean isFormer(long sequence, long stamp) {
    return sequence >= bornSequence ? stamp < bornStamp : stamp <= formerStamp;
  }

  /** Returns whether the batch was taken before, or is from before the instance was restarted. */
  private boolean isKnown(long sequence, long stamp) {
    if (isFormer(sequence, stamp)) return true;
    return sequence < next && stamp <= lastStamp && !isOther(sequence, stamp);
  }

  private void beginAt(long sequence) {
    anyNumber = false;
    next = sequence;
    stampedFrom = sequence;
  }

  /** Returns whether a batch of that number was taken that was made at another time. */
  private boolean isOther(long sequence, long stamp) {
    if (sequence < stampedFrom) return false;
    if (sequence - stampedFrom < STAMPS) {
      return firstStamps[(int) (sequence - stampedFrom)] != stamp;
    }
    return next - sequence <= STAMPS && lastStamps[(int) (sequence % STAMPS)] != stamp;
  }

  private void remember(long sequence, long stamp) {
    if (sequence - stampedFrom < STAMPS) firstStamps[(int) (sequence - stampedFrom)] = stamp;
    lastStamps[(int) (sequence % STAMPS)] = stamp;
  }

  private void restart(long sequence, long stamp) {
    restarts++;
    bornSequence = sequence;
    bornStamp = stamp;
    // Where the clock went back, timestamps cannot tell one run from the next.
    formerStamp = stamp > lastStamp ? lastStamp : Long.MIN_VALUE;
    lastStamp = formerStamp;
    target.forget();
    dropEarly();
    next = 0;
    stampedFrom = 0;
  }

  private void dropEarly() {
    early.values().forEach(batch -> batch.left().run());
    early.clear();
  }

  /** Applies what is next in turn. */
  private void drain() {
    for (var batch = early.remove(next); batch != null; batch = early.remove(next)) {
      apply(batch);
    }
  }

  private void apply(Batch<E> batch) {
    for (var event : batch.events()) target.on(event);
    lastStamp = Math.max(lastStamp, batch.stamp());
    remember(next, batch.stamp());
    next++;
    batch.left().run();
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
    stampedFrom = next;
    drain();
    watch();
  }
}
