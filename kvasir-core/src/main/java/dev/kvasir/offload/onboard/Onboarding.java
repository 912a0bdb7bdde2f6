package dev.kvasir.offload.onboard;

import dev.kvasir.Nullable;
import dev.kvasir.kv.Block;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.time.EventLoop;
import dev.kvasir.time.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** One request's wait for its prefix to be loaded. */
public final class Onboarding {
  /**
   * The answer to a search.
   *
   * @param blocks the prefix at the top, held for the caller
   * @param tiers where each block of the whole prefix was found
   * @param worthwhile how many of them were worth bringing up
   */
  public record Found(List<Block.Registered> blocks, List<Tier> tiers, int worthwhile) {
    /** Returns the tier where each of the blocks at the top was found. */
    public List<Tier> arrivedFrom() {
      return tiers.subList(0, blocks.size());
    }
  }

  private final List<Block.@Nullable Registered> arrived;
  private final List<Tier> tiers;
  private final Consumer<Found> done;
  private @Nullable Timer patience;
  private @Nullable Runnable settled;
  private int missing;
  private boolean answered;

  public Onboarding(int worthwhile, List<Tier> tiers, Consumer<Found> done) {
    this.arrived = new ArrayList<>(worthwhile);
    for (int i = 0; i < worthwhile; i++) arrived.add(null);
    this.missing = worthwhile;
    this.tiers = List.copyOf(tiers);
    this.done = done;
  }

  /** Returns whether the answer has been given, or is not wanted any more. */
  public boolean isDone() {
    return answered;
  }

  /** Stops waiting: nothing is held, and no answer comes. Loads that have begun continue. */
  public void cancel() {
    if (answered) return;
    finish();
    release(0);
  }

  /** Runs when none of its blocks is on its way any more. */
  public void whenSettled(Runnable then) {
    settled = then;
  }

  /** Answers with the blocks at the top, without loading any. */
  public void decline(List<Block.Registered> top) {
    missing = 0;
    answered = true;
    done.accept(new Found(top, tiers, arrived.size()));
  }

  public void begin(
      EventLoop loop, Duration longest, List<BlockHash> hashes, OnboardingLoads ascents) {
    // What is at the top is held first: room is not made for the front of a prefix with its back.
    var here = new ArrayList<Optional<Block.Registered>>(hashes.size());
    for (var hash : hashes) here.add(ascents.here(hash));
    boolean isPrefix = true;
    for (int i = 0; i < hashes.size(); i++) {
      int at = i;
      var block = here.get(i);
      if (isPrefix && block.isEmpty()) {
        isPrefix = ascents.want(hashes.get(i), arrival -> settle(at, arrival));
        if (isPrefix) continue;
      }
      if (!isPrefix) block.ifPresent(Block.Registered::release);
      settle(at, isPrefix ? block.orElse(null) : null);
    }
    ascents.start();
    if (missing == 0) answer();
    else if (!answered) patience = loop.after(longest, this::answer);
  }

  /** The block is at the top, held for us, or did not come. */
  private void settle(int at, Block.@Nullable Registered block) {
    missing--;
    if (missing == 0 && settled != null) settled.run();
    if (answered) {
      if (block != null) block.release();
      return;
    }
    arrived.set(at, block);
    if (missing == 0 && patience != null) answer();
  }

  private void answer() {
    if (answered) return;
    finish();
    var prefix = new ArrayList<Block.Registered>();
    for (var block : arrived) {
      if (block == null) break;
      prefix.add(block);
    }
    release(prefix.size());
    done.accept(new Found(prefix, tiers, arrived.size()));
  }

  private void finish() {
    answered = true;
    if (patience != null) patience.cancel();
  }

  /** Lets go of what arrived behind a gap; it stays cached at the top. */
  private void release(int from) {
    for (int i = arrived.size() - 1; i >= from; i--) {
      var block = arrived.get(i);
      if (block != null) block.release();
    }
  }
}
