package dev.kvasir.tiers;

import dev.kvasir.Nullable;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.offload.store.GuardedStore;
import dev.kvasir.tiers.shared.Presence;
import dev.kvasir.tiers.shared.SharedStore;
import dev.kvasir.time.EventLoop;
import dev.kvasir.time.Timer;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;

/**
 * Asks servers that are shared with other processes for blocks of a prompt that this process does
 * not know. Belongs to the loop of the engines.
 *
 * <p>One block is asked for first: usually nobody has it, and then there is nothing behind it
 * either. What is found is known from then on as if it had been stored here. A server that is left
 * alone is not asked, and one that is slow costs a prompt the time it may wait, once.
 */
public final class SharedTierLookup {
  private static final int BLOCKS_MAX = 64;

  /**
   * A server to ask.
   *
   * @param pool what is believed to be there
   * @param guard knows whether it is left alone
   * @param patience how long to wait for its answers
   */
  public record Place(BlockPool pool, SharedStore store, GuardedStore guard, Duration patience) {}

  /** Nobody to ask. */
  public static final SharedTierLookup NONE = new SharedTierLookup(new PrefixRegistry(), List.of());

  private final PrefixRegistry registry;
  private final List<Place> places;

  /** The registry knows what is on the tiers of this process and believed to be on those places. */
  SharedTierLookup(PrefixRegistry registry, List<Place> places) {
    this.registry = registry;
    this.places = List.copyOf(places);
  }

  /** Returns whether there is nobody to ask. */
  public boolean isIdle() {
    return places.isEmpty();
  }

  /**
   * Asks for the blocks behind those that are known, and goes on when all is told or it took too
   * long; at once where all are known.
   *
   * @param known whether a block is in the memory of who asks
   */
  public void learn(
      EventLoop loop, List<TokenBlock> blocks, Predicate<BlockHash> known, Runnable then) {
    new Search(loop, blocks, known, then).search(0);
  }

  /** One prompt's questions, to one place after the other. */
  private final class Search {
    private final EventLoop loop;
    private final List<TokenBlock> blocks;
    private final Predicate<BlockHash> known;
    private final Runnable then;
    private int from;
    private int number;
    private @Nullable Timer timer;

    Search(EventLoop loop, List<TokenBlock> blocks, Predicate<BlockHash> known, Runnable then) {
      this.loop = loop;
      this.blocks = blocks;
      this.known = known;
      this.then = then;
    }

    private boolean isKnown(BlockHash hash) {
      return known.test(hash) || registry.fastest(hash) != null;
    }

    void search(int place) {
      number = place;
      while (from < blocks.size() && isKnown(blocks.get(from).hash())) from++;
      if (place == places.size() || from == blocks.size()) {
        then.run();
        return;
      }
      var target = places.get(place);
      if (target.guard().isTripped() || target.patience().isZero()) {
        search(place + 1);
        return;
      }
      timer = loop.after(target.patience(), () -> next(place));
      search(place, target, 1);
    }

    private void search(int place, Place target, int count) {
      var some = blocks.subList(from, Math.min(blocks.size(), from + count));
      target.store().look(some, presences -> answered(place, target, some, presences));
    }

    private void answered(
        int place, Place target, List<TokenBlock> some, List<Presence> presences) {
      int there = 0;
      while (there < some.size() && presences.get(there) == Presence.THERE) there++;
      var found = some.subList(0, there);
      // Who asks may have begun to bring one of them here, and knows more of it than its name.
      var unknown = found.stream().filter(block -> !known.test(block.hash())).toList();
      SharedStore.learn(target.pool(), unknown);
      // An answer that comes late is still worth knowing, but nobody waits for it.
      if (number != place) return;
      from += found.size();
      boolean more = found.size() == some.size() && from < blocks.size();
      if (more) search(place, target, BLOCKS_MAX);
      else next(place);
    }

    /** Goes on to the next place, once. */
    private void next(int place) {
      if (number != place) return;
      if (timer != null) timer.cancel();
      search(place + 1);
    }
  }
}
