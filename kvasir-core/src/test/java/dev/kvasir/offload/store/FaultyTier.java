package dev.kvasir.offload.store;

import dev.kvasir.Nullable;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.time.EventLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * A tier whose slots remember what was copied into them, and whose copies fail, stall and tear.
 *
 * <p>Bytes are read when a transfer starts and again when it ends: a block that was reused in
 * between is found out. Who loads more at a time than it takes is found out, too.
 */
public final class FaultyTier implements TierStore {
  private final EventLoop loop;
  private final RandomGenerator random;
  private final @Nullable BlockHash[] above;
  private final @Nullable BlockHash[] here;
  private final List<Runnable> unanswered = new ArrayList<>();
  private int loadsMax = Integer.MAX_VALUE;
  private int loading;
  private boolean faults = true;
  private boolean standing;

  public FaultyTier(
      EventLoop loop,
      RandomGenerator random,
      @Nullable BlockHash[] above,
      @Nullable BlockHash[] here) {
    this.loop = loop;
    this.random = random;
    this.above = above;
    this.here = here;
  }

  /** Takes so many loads at a time, and no more. */
  public FaultyTier ofQueue(int queueMax) {
    loadsMax = queueMax;
    return this;
  }

  /** From now on nothing is answered. */
  public void stand() {
    standing = true;
  }

  /** Goes on, and answers in any order what was asked meanwhile. */
  public void goOn() {
    standing = false;
    while (!unanswered.isEmpty()) {
      var answer = unanswered.remove(random.nextInt(unanswered.size()));
      loop.after(delay(), answer);
    }
  }

  public void heal() {
    faults = false;
    goOn();
  }

  @Override
  public void store(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
    for (var copy : copies) require(copy, above[copy.above()], "read to store");
    later(
        () -> {
          var outcomes = new ArrayList<CopyOutcome>();
          for (var copy : copies) {
            require(copy, above[copy.above()], "still read to store");
            outcomes.add(move(copy, here, copy.below()));
          }
          done.accept(outcomes);
        });
  }

  @Override
  public void load(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
    for (var copy : copies) require(copy, here[copy.below()], "read to load");
    loading += copies.size();
    if (loading > loadsMax) throw new AssertionError(loading + " loads of " + loadsMax);
    later(
        () -> {
          var outcomes = new ArrayList<CopyOutcome>();
          for (var copy : copies) {
            require(copy, here[copy.below()], "still read to load");
            outcomes.add(
                faults && random.nextInt(50) == 0
                    ? new CopyOutcome.Damaged("flipped bit")
                    : move(copy, above, copy.above()));
          }
          loading -= copies.size();
          done.accept(outcomes);
        });
  }

  private CopyOutcome move(BlockCopy copy, @Nullable BlockHash[] target, int slot) {
    if (faults && random.nextInt(8) == 0) {
      target[slot] = null;
      return new CopyOutcome.Failed("torn");
    }
    target[slot] = copy.block().hash();
    return CopyOutcome.COPIED;
  }

  private void later(Runnable answer) {
    if (standing) unanswered.add(answer);
    else loop.after(delay(), answer);
  }

  private Duration delay() {
    if (!faults) return Duration.ofNanos(100_000);
    return random.nextInt(40) == 0
        ? Duration.ofMillis(random.nextInt(60_000))
        : Duration.ofNanos(random.nextInt(20_000_000));
  }

  private static void require(BlockCopy copy, @Nullable BlockHash bytes, String what) {
    if (!copy.block().hash().equals(bytes)) {
      throw new AssertionError(what + " " + copy + ", but the slot holds " + bytes);
    }
  }
}
