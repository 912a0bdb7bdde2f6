package dev.kvasir.engine;

import dev.kvasir.Nullable;
import dev.kvasir.kv.KvGrowth;
import java.util.ArrayList;
import java.util.Arrays;
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

  /** Number of sequences in each place whose blocks are taken together. */
  private final int[] together;

  /** True as long as blocks are taken for several sequences at once. */
  private boolean isTogether = true;

  /** Growth that takes the blocks of these sequences; null before the first of them. */
  private @Nullable KvGrowth growth;

  /** Flags of this tick: its blocks are taken, and a step has begun with them. */
  private boolean reserved;

  private boolean started;
  private long tick;

  /** The tick's place in the ring. */
  private int ringPlace;

  private int size;
  private long contextTokens;

  DecodeRing(int blockTokens) {
    this.blockTokens = blockTokens;
    this.together = new int[blockTokens];
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
    int place = place(sequence);
    insert(places.get(place), sequence);
    if (isTogether) joinOthers(sequence, place);
    ends.add(endPlace(sequence), sequence);
    size++;
    contextTokens += sequence.computed;
  }

  private void joinOthers(Sequence sequence, int place) {
    var own = sequence.blocks().growth(sequence.computed);
    if (own == null || (growth != null && !growth.equals(own))) return;
    growth = own;
    sequence.together = true;
    together[place]++;
  }

  void remove(Sequence sequence) {
    int number = place(sequence);
    if (sequence.together) {
      settle(sequence);
      sequence.together = false;
      together[number]--;
    }
    sequence.computed = computed(sequence);
    sequence.decoding = false;
    var place = places.get(number);
    place.remove(indexIn(place, sequence));
    // Most leave because they have all their tokens.
    if (ends.getLast() == sequence) ends.removeLast();
    else ends.remove(endPlace(sequence));
    size--;
    contextTokens -= sequence.computed;
  }

  /** Has the blocks of the sequence say what is so, which they do not while it decodes. */
  void settle(Sequence sequence) {
    if (!sequence.together) return;
    int computed = computed(sequence);
    int begun = computed + 1;
    sequence.blocks().grown(reserved ? begun : computed, started ? begun : computed, computed);
  }

  /** From now on each takes its own blocks, and so do those that come. */
  void partForGood() {
    if (!isTogether) return;
    isTogether = false;
    part();
  }

  /** From now on each takes its own blocks. */
  void part() {
    Arrays.fill(together, 0);
    for (var place : places) {
      for (var sequence : place) {
        settle(sequence);
        sequence.together = false;
      }
    }
  }

  /** Takes the next block of each that needs one, in the order of admission. */
  void reserve() {
    var border = atBorder();
    int all = border.size();
    if (all > 0 && together[ringPlace] == all) reserveTogether(all);
    else for (int i = 0; i < all; i++) reserve(border.get(i));
    reserved = true;
  }

  /** The blocks that this tick takes are taken, one by one. */
  void reserved() {
    reserved = true;
  }

  /** Takes the next block of one that needs it, where {@link #reserved()} follows. */
  void reserve(Sequence sequence) {
    if (sequence.together) reserveTogether(1);
    else sequence.blocks().reserve(computed(sequence) + 1);
  }

  private void reserveTogether(int blocks) {
    if (growth != null && !reserved) growth.reserve(blocks);
  }

  /** A step begins with the blocks that were taken. */
  void start() {
    startTogether();
    var border = atBorder();
    if (together[ringPlace] == border.size()) return;
    for (int i = 0; i < border.size(); i++) {
      var sequence = border.get(i);
      if (!sequence.together && !sequence.idle) sequence.blocks().start();
    }
  }

  private void startTogether() {
    if (growth != null && reserved && !started) growth.start(together[ringPlace]);
    started = true;
  }

  /** The blocks that end with the tokens computed now are full. */
  void fill() {
    if (growth != null) growth.fill(together[ringPlace]);
    var border = atBorder();
    if (together[ringPlace] == border.size()) return;
    for (int i = 0; i < border.size(); i++) {
      var sequence = border.get(i);
      if (!sequence.together) sequence.blocks().fill(computed(sequence));
    }
  }

  /** The same where they are full when that step lands. */
  void fill(LaunchedStep step) {
    var border = atBorder();
    for (int i = 0; i < border.size(); i++) {
      var sequence = border.get(i);
      step.fill(sequence, computed(sequence));
    }
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

  /** Returns whether any of them will have all its tokens when it has one more. */
  boolean isAnyEnding() {
    return !ends.isEmpty() && endTick(ends.getLast()) <= tick + 1;
  }

  /** One more token for all of them. */
  void advance() {
    startTogether();
    reserved = false;
    started = false;
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

  /** Returns the place of the sequence among the ends, or the place where it belongs. */
  private int endPlace(Sequence sequence) {
    long end = endTick(sequence);
    // Most that come have the most tokens left.
    if (ends.isEmpty() || endTick(ends.getFirst()) < end) return 0;
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

  private int place(Sequence sequence) {
    return (int) Math.floorMod(-sequence.offset, (long) blockTokens);
  }

  private static int indexIn(List<Sequence> place, Sequence sequence) {
    for (int i = 0; i < place.size(); i++) {
      if (place.get(i) == sequence) return i;
    }
    throw new IllegalStateException(sequence + " is not where it meets the end of a block");
  }

  private static void insert(List<Sequence> place, Sequence sequence) {
    int at = place.size();
    while (at > 0 && place.get(at - 1).rank > sequence.rank) at--;
    place.add(at, sequence);
  }
}
