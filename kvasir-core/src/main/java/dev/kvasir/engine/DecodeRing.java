package dev.kvasir.engine;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;

/**
 * The sequences that get one token in every step, kept so that a step touches only those that
 * change: those whose next token needs another block, and those that end.
 *
 * <p>One clock counts for all of them: a sequence that has computed n tokens when the clock stands
 * at t has computed n + 1 at t + 1. So all that meet the end of a block at the same time stand in
 * the same place of a ring of as many places as a block has tokens.
 */
final class DecodeRing {
  private static final Comparator<Sequence> BY_RANK = Comparator.comparingLong(each -> each.rank);

  private final int blockTokens;
  private final List<List<Sequence>> places = new ArrayList<>();

  /** By their end and then by their rank, the next to end last. */
  private final List<Sequence> ends = new ArrayList<>();

  private long tick;

  /** The tick's place in the ring. */
  private int ringPlace;

  private int size;
  private long contextTokens;

  DecodeRing(int blockTokens) {
    this.blockTokens = blockTokens;
    for (int i = 0; i < blockTokens; i++) places.add(new ArrayList<>());
  }

  int size() {
    return size;
  }

  /** Tokens computed so far of all sequences together. */
  long contextTokens() {
    return contextTokens;
  }

  int computed(Sequence sequence) {
    return (int) (tick + sequence.offset);
  }

  void add(Sequence sequence) {
    sequence.offset = sequence.computed - tick;
    sequence.decoding = true;
    insert(place(sequence), sequence);
    ends.add(endPlace(sequence), sequence);
    size++;
    contextTokens += sequence.computed;
  }

  void remove(Sequence sequence) {
    sequence.computed = computed(sequence);
    sequence.decoding = false;
    var place = place(sequence);
    place.remove(Collections.binarySearch(place, sequence, BY_RANK));
    ends.remove(endPlace(sequence));
    size--;
    contextTokens -= sequence.computed;
  }

  /** Those whose computed tokens end with a block, in the order of admission. */
  List<Sequence> atBorder() {
    return places.get(ringPlace);
  }

  /** Those whose computed tokens will end with a block when they have one more. */
  List<Sequence> nextAtBorder() {
    return places.get(nextPlace());
  }

  private int nextPlace() {
    return ringPlace + 1 == blockTokens ? 0 : ringPlace + 1;
  }

  /** Those that will have all their tokens when they have one more. */
  List<Sequence> nextEnded() {
    return endedBy(tick + 1);
  }

  /** Whether any of them will have all its tokens when it has one more. */
  boolean isAnyEnding() {
    return !ends.isEmpty() && endTick(ends.getLast()) <= tick + 1;
  }

  /** One more token for all of them. */
  void advance() {
    tick++;
    ringPlace = nextPlace();
    contextTokens += size;
  }

  /** One more token for all of them but the idle. */
  void advance(List<Sequence> idle) {
    for (var sequence : idle) remove(sequence);
    advance();
    for (var sequence : idle) add(sequence);
  }

  /** Those that have all their tokens, in the order of admission. */
  List<Sequence> ended() {
    var ended = endedBy(tick);
    if (ended.size() > 1) ended.sort(BY_RANK);
    return ended;
  }

  private List<Sequence> endedBy(long last) {
    int at = ends.size() - 1;
    if (at < 0 || endTick(ends.get(at)) > last) return List.of();
    var ended = new ArrayList<Sequence>(2);
    for (; at >= 0 && endTick(ends.get(at)) <= last; at--) ended.add(ends.get(at));
    return ended;
  }

  /** Where the sequence stands among the ends, or belongs. */
  private int endPlace(Sequence sequence) {
    long end = endTick(sequence);
    int low = 0;
    int high = ends.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      var other = ends.get(middle);
      long otherEnd = endTick(other);
      boolean isLater = otherEnd > end || (otherEnd == end && other.rank > sequence.rank);
      if (isLater) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private static long endTick(Sequence sequence) {
    return sequence.endTokens() - sequence.offset;
  }

  private List<Sequence> place(Sequence sequence) {
    return places.get((int) Math.floorMod(-sequence.offset, (long) blockTokens));
  }

  private static void insert(List<Sequence> place, Sequence sequence) {
    int at = place.size();
    while (at > 0 && place.get(at - 1).rank > sequence.rank) at--;
    place.add(at, sequence);
  }
}
