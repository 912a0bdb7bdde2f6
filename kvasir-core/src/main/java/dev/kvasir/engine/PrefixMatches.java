package dev.kvasir.engine;

import dev.kvasir.kv.KvMatch;
import dev.kvasir.kv.KvStore;
import dev.kvasir.kv.KvWatch;
import java.util.List;

/**
 * Answers of the KV memory about the waiting sequences, kept for as long as they are true.
 *
 * <p>Each answer is entered under the names that it rests on. The memory reports which names
 * changed, and {@link #catchUp} forgets the answers that rest on these: that takes as long as there
 * are changes, however many sequences wait.
 */
final class PrefixMatches {
  private final KvStore kv;
  private final PlanningWork work;
  private final int rowsMax;
  private NameTable names;
  private List<KvWatch> watches = List.of();
  private long[] read = {};
  private boolean watching;
  private long forgotten;

  /**
   * Answers of the memory, of which none is known yet.
   *
   * @param rowsMax on how many names they may rest together
   */
  PrefixMatches(KvStore kv, PlanningWork work, int rowsMax) {
    this.kv = kv;
    this.work = work;
    this.rowsMax = rowsMax;
    this.names = new NameTable(List.of(), rowsMax);
  }

  /**
   * Returns how often an answer was forgotten: because it was no longer true, or because nothing
   * would have reported when it no longer was.
   */
  long forgotten() {
    return forgotten + names.overflows();
  }

  /** Returns how often answers that still held were thrown out for lack of room. */
  long overflows() {
    return names.overflows();
  }

  /** Forgets what is no longer true. */
  void catchUp() {
    if (!watching) watch();
    for (int i = 0; i < read.length; i++) {
      var watch = watches.get(i);
      if (read[i] == watch.count()) continue;
      catchUp(watch, read[i]);
      read[i] = watch.count();
    }
  }

  /** An engine that plans after each step never gets here, and needs no memory for it. */
  private void watch() {
    watching = true;
    watches = kv.watch();
    read = new long[watches.size()];
    names = new NameTable(watches, rowsMax);
  }

  private void catchUp(KvWatch watch, long from) {
    long until = watch.count();
    // Where more has changed than is kept, nothing is gained by reading it.
    if (!watch.isKept(from) || until - from > names.size()) {
      forgetAll();
      return;
    }
    work.check(until - from);
    for (long number = from; number < until; number++) {
      forgotten += names.forget(watch.keyAt(number));
    }
  }

  private void forgetAll() {
    if (names.isEmpty()) return;
    forgotten++;
    names.clear();
  }

  /** Returns what was cached of that many first blocks of the sequence, as of the last update. */
  KvMatch of(Sequence sequence, int blocksMax) {
    var known = sequence.match;
    if (known != null && names.isCurrent(sequence)) {
      work.check();
      return known;
    }
    var match = kv.match(sequence.request().names(), blocksMax);
    work.look(1 + match.blocks() + match.below());
    keep(sequence, match, Math.min(match.examined(), blocksMax));
    return match;
  }

  /** One that rests on too many blocks is forgotten at once, or it would push out all others. */
  private void keep(Sequence sequence, KvMatch match, int examined) {
    if (watches.isEmpty() || examined > rowsMax / 4) {
      forgotten++;
      return;
    }
    sequence.match = match;
    names.enter(sequence, examined);
  }

  /** The sequence waits no longer. */
  void drop(Sequence sequence) {
    sequence.match = null;
    names.leave(sequence);
  }
}
