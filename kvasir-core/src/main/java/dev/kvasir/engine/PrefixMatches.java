package dev.kvasir.engine;

import dev.kvasir.kv.KvChanges;
import dev.kvasir.kv.KvMatch;
import dev.kvasir.kv.KvStore;

/**
 * Answers of the KV memory about the waiting sequences. Each sequence keeps its answer with the
 * version of the memory at which it was made, and the memory is queried again only if a block
 * changed since that the answer rests on.
 */
final class PrefixMatches {
  /** Number of watched blocks from which on those that nobody waits for may be too many. */
  private static final int WATCHED_MIN = 1 << 10;

  private final KvStore kv;
  private final PlanningWork work;
  private final KvChanges changes = new KvChanges();
  private boolean isBegun;
  private boolean isReported;

  /** Most blocks to watch; 0 until the first plan since nothing was watched is made. */
  private int watchedMax;

  PrefixMatches(KvStore kv, PlanningWork work) {
    this.kv = kv;
    this.work = work;
  }

  /** Begins a plan that is made ahead: most of those watched for earlier ones wait no longer. */
  void begin() {
    if (!isBegun) {
      isBegun = true;
      isReported = kv.watch(changes);
    }
    if (watchedMax == 0) watchedMax = Math.max(WATCHED_MIN, 2 * changes.watched());
    if (changes.watched() <= watchedMax) return;
    changes.clear();
    watchedMax = 0;
  }

  /** Returns the version of the memory. While it stays the same, so do all answers. */
  long version() {
    return changes.version();
  }

  /** Returns what is cached of that many first blocks of the sequence. */
  KvMatch of(Sequence sequence, int blocksMax) {
    var known = sequence.match;
    if (known != null && isCurrent(sequence)) {
      work.check();
      return known;
    }
    var match = kv.match(sequence.request().names(), blocksMax);
    work.look(1 + match.blocks() + match.below());
    keep(sequence, match, Math.min(match.examined(), blocksMax));
    return match;
  }

  private boolean isCurrent(Sequence sequence) {
    long since = sequence.matchVersion;
    long count = changes.version() - since;
    if (count == 0) return true;
    // To look at more changes takes longer than a query.
    long most = (long) PlanningWork.CHECKS_PER_LOOK * (1 + sequence.matchBlocks);
    if (count > most || !changes.isLogged(since)) return false;
    work.check(count);
    if (changes.isChanged(since, sequence.request().names(), sequence.matchBlocks)) return false;
    sequence.matchVersion = changes.version();
    return true;
  }

  private void keep(Sequence sequence, KvMatch match, int blocks) {
    if (!isReported) {
      // Nobody reports when it no longer holds: it does not hold from now on.
      changes.clear();
      return;
    }
    changes.watch(sequence.request().names(), blocks);
    sequence.match = match;
    sequence.matchBlocks = blocks;
    sequence.matchVersion = changes.version();
  }
}
