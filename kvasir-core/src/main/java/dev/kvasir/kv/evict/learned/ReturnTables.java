package dev.kvasir.kv.evict.learned;

import dev.kvasir.kv.evict.policy.SlotSet;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * Estimates how likely requests of each class return at each age, learnt from those that did and
 * did not.
 *
 * <p>The classes are a tree: a class with little evidence is like its parent, and the root is like
 * a fixed prior with a falling hazard, under which the oldest block goes first. Each class has a
 * life table over buckets of age: how many reached the age, and how many returned within it. From
 * that follows an index for each age: the most hits that holding a block on can bring for each unit
 * of time that it is held, where the best moment to give up is chosen (Gittins).
 *
 * <p>Chance makes classes look different that are not. A class of a request's own blocks counts for
 * more than its parent only as far as it differs from it by more than chance would explain, and
 * more is asked of it where the classes at its depth of the tree do not differ on the whole, and
 * where the tables are not trusted.
 *
 * <p>Time is counted in block references. A class is due to be refreshed when it has enough new
 * evidence, or when its parent has changed, and a few classes are refreshed with each request.
 */
final class ReturnTables {
  /** Buckets of age. */
  static final int AGES = 33;

  static final int ROOT = 0;
  static final int NONE = -1;

  /** No class has more children than this; keys are below it. */
  static final int KEYS = 16;

  static final int CLASSES_MAX = 2_048;

  /** Largest number of classes that are refreshed with one request. */
  static final int REFRESHES_MAX = 4;

  /** The share of new evidence that makes a class due. */
  private static final float NEWS_SHARE = 0.02f;

  /** After so many requests another class is refreshed in any case. */
  private static final int REQUESTS_PER_TURN = 32;

  /** Number of requests after which older evidence counts {@link #DECAY} times as much. */
  private static final int DECAY_REQUESTS = 1_024;

  private static final double DECAY = 0.93;
  private static final float COUNT_MAX = 1e9f;

  /** The format of what is saved, another number for another one. */
  private static final int SAVED_FORMAT = 0x4b4c_0001;

  private static final int SAVED_BYTES_MAX = 1 << 20;

  /** Amount of a class's own evidence that weighs as much as the parent's. */
  private static final float PARENT_WEIGHT = 20;

  /** The same for classes that are less like their parent. */
  private static final float PARENT_WEIGHT_APART = 10;

  /** With so many times the evidence of that weight a class hardly rests on its parent. */
  private static final float LIKE_PARENT_MAX = 16;

  /** Before so many requests, nothing is said about the chance of one. */
  private static final float EVIDENCE_MIN = 128;

  /**
   * Multiple of chance by which a class must differ to count, where none at its depth seem to
   * differ.
   */
  private static final double DOUBT_MAX = 4;

  /** The same for all classes, while the tables have not proved to be worth it. */
  private static final double DOUBT_UNTRUSTED = 9;

  /**
   * Multiple of chance by which the classes at a depth differ on the whole, from which on a class
   * counts if it differs by more than chance.
   */
  private static final double DIFFERENCE_SURE = 1.25;

  /** Added to what is expected, where little is. */
  private static final double VARIANCE_MORE = 0.5;

  /** Classes are at most that deep below the root. */
  private static final int DEPTHS = 8;

  /** Before so many requests the prior holds as it is, and no two classes count as equal. */
  private static final int REQUESTS_SETTLED = 2_048;

  /** Number of returns of younger ages that weigh as much as the prior. */
  private static final double PRIOR_RETURNS = 5;

  private static final double HAZARD_MAX = 0.999;
  private static final double FIRST_EDGE = 16;
  private static final double PRIOR_SCALE = 500;
  private static final double PRIOR_EXPONENT = 0.3;
  private static final int CLASSES_FIRST = 64;

  private final long[] edges = new long[AGES + 1];
  private final float[] prior = new float[AGES];

  private int classes;
  private int[] parents = new int[CLASSES_FIRST];
  private float[] parentWeights = new float[CLASSES_FIRST];
  private int[] children = new int[CLASSES_FIRST * KEYS];
  private float[] returned = new float[CLASSES_FIRST * AGES];
  private float[] reached = new float[CLASSES_FIRST * AGES];
  private float[] hazards = new float[CLASSES_FIRST * AGES];
  private float[] indices = new float[CLASSES_FIRST * AGES];

  /**
   * Square of the difference between each class and its parent, and the part that chance explains.
   */
  private float[] squares = new float[CLASSES_FIRST];

  private float[] variances = new float[CLASSES_FIRST];

  /** The same for all classes of each depth, each in units of what chance would let it. */
  private final double[] squaresAt = new double[DEPTHS];

  private final double[] chancesAt = new double[DEPTHS];

  /** Number of times that the evidence of each class has decayed. */
  private int[] decays = new int[CLASSES_FIRST];

  /** Amount of further evidence that makes each class due; infinite for those that are. */
  private float[] newsLeft = new float[CLASSES_FIRST];

  /** When each class was refreshed, counted in refreshes. */
  private int[] refreshed = new int[CLASSES_FIRST];

  private final SlotSet due = new SlotSet(CLASSES_MAX);
  private int dueCount;
  private int hand;
  private int refreshes;
  private int refreshesLeft;

  /** Of the class that is being refreshed, for each age; the last are ends of buckets. */
  private final double[] leftAt = new double[AGES];

  private final float[] expected = new float[AGES];
  private final double[] hitsAfter = new double[AGES];
  private final double[] timeAfter = new double[AGES];
  private final int[] hull = new int[AGES];

  private long requests;

  /** Flag that is true if more was found than LRU would have, or it is too soon to tell. */
  private boolean isTrusted;

  private int nextClass;

  /**
   * Tables with only a root.
   *
   * @param unit how many references make one unit of age
   */
  ReturnTables(double unit) {
    for (int age = 1; age <= AGES; age++) {
      edges[age] = Math.round(unit * FIRST_EDGE * StrictMath.pow(2, (age - 1) / 2.0));
    }
    edges[AGES] = 2 * edges[AGES - 1];
    for (int age = 0; age < AGES; age++) {
      double scale = unit * PRIOR_SCALE;
      double kept = (edges[age] + scale) / (edges[age + 1] + scale);
      prior[age] = (float) (1 - StrictMath.pow(kept, PRIOR_EXPONENT));
    }
    open(ROOT, PARENT_WEIGHT);
  }

  /** Makes room for all classes that there may be, so that it need not be made later. */
  void reserve() {
    grow(CLASSES_MAX);
  }

  /** At how many references a block reaches the age. */
  long edge(int age) {
    return edges[age];
  }

  int classes() {
    return classes;
  }

  /** Returns the size of its arrays in bytes. */
  long bytes() {
    long perClass = (long) Integer.BYTES * (3 + KEYS) + (long) Float.BYTES * (4 + 4 * AGES);
    return perClass * parents.length + due.bytes();
  }

  /** The class below that one, made if there is none yet; that one itself if there are too many. */
  int child(int parent, int key) {
    return child(parent, key, parentWeights[parent]);
  }

  /** Like {@link #child}, for a class that is, with all below it, less like its parent. */
  int childApart(int parent, int key) {
    return child(parent, key, PARENT_WEIGHT_APART);
  }

  private int child(int parent, int key, float parentWeight) {
    int at = parent * KEYS + key;
    if (children[at] != 0) return children[at];
    if (classes == CLASSES_MAX) return parent;
    int made = open(parent, parentWeight);
    children[at] = made;
    return made;
  }

  /** Returns the worth of a block of that class and age. */
  float index(int of, int age) {
    return indices[of * AGES + age];
  }

  /** A request of the class begins: what rests on a parent that has changed since is due. */
  void used(int of) {
    for (int at = of; at != ROOT; at = parents[at]) {
      boolean restsOnParent = reached[at * AGES] < LIKE_PARENT_MAX * parentWeights[at];
      if (restsOnParent && refreshed[at] < refreshed[parents[at]]) makeDue(at);
    }
    reached(of, 0, 1);
  }

  /** That share of a request reached the age. */
  void reached(int of, int age, float share) {
    add(reached, of, age, share);
  }

  /** That share of a request returned at the age. */
  void returned(int of, int age, float share) {
    add(returned, of, age, share);
  }

  private void add(float[] counts, int of, int age, float share) {
    int at = of;
    while (true) {
      counts[at * AGES + age] += share;
      newsLeft[at] -= share;
      if (newsLeft[at] < 0) makeDue(at);
      if (at == ROOT) return;
      at = parents[at];
    }
  }

  private void makeDue(int of) {
    if (newsLeft[of] == Float.POSITIVE_INFINITY) return;
    newsLeft[of] = Float.POSITIVE_INFINITY;
    due.add(of);
    dueCount++;
  }

  /**
   * Returns the probability that one of that class and age returns within that many references; NaN
   * while unknown.
   */
  double chance(int of, int age, long references) {
    if (reached[ROOT] < EVIDENCE_MIN) return Double.NaN;
    double left = 1;
    for (int at = age; at < AGES && edges[at] <= edges[age] + references; at++) {
      left *= 1 - hazards[of * AGES + at];
    }
    return 1 - left;
  }

  /** All evidence and what is known of tenants, with a checksum. */
  byte[] save(HintTrust trust) {
    var out = ByteBuffer.allocate(SAVED_BYTES_MAX).putInt(SAVED_FORMAT);
    write(out);
    trust.write(out);
    return Arrays.copyOf(out.putInt(sum(out.array(), out.position())).array(), out.position());
  }

  /**
   * Reads into new tables and a new trust what {@link #save} has saved; false where it is not that,
   * or of other ages, and then both are worthless.
   */
  boolean restore(byte[] saved, HintTrust trust) {
    int length = saved.length - Integer.BYTES;
    if (length < Integer.BYTES || saved.length > SAVED_BYTES_MAX) return false;
    if (ByteBuffer.wrap(saved).getInt(length) != sum(saved, length)) return false;
    var in = ByteBuffer.wrap(saved, 0, length);
    try {
      return in.getInt() == SAVED_FORMAT && read(in) && trust.read(in) && !in.hasRemaining();
    } catch (BufferUnderflowException e) {
      return false;
    }
  }

  private static int sum(byte[] bytes, int length) {
    var sum = new CRC32C();
    sum.update(bytes, 0, length);
    return (int) sum.getValue();
  }

  /** Writes all evidence, each class after its parent. */
  private void write(ByteBuffer out) {
    out.putLong(edges[AGES - 1]).putInt(classes);
    for (int of = 0; of < classes; of++) {
      decay(of);
      out.putInt(parents[of]).putInt(keyOf(of)).putFloat(parentWeights[of]);
      for (int at = of * AGES; at < (of + 1) * AGES; at++) {
        out.putFloat(returned[at]).putFloat(reached[at]);
      }
    }
  }

  private int keyOf(int of) {
    for (int key = 0; key < KEYS; key++) {
      if (children[parents[of] * KEYS + key] == of) return key;
    }
    return 0;
  }

  private boolean read(ByteBuffer in) {
    boolean sameAges = in.getLong() == edges[AGES - 1];
    int count = in.getInt();
    if (!sameAges || count < 1 || count > CLASSES_MAX) return false;
    for (int of = 0; of < count; of++) {
      int parent = in.getInt();
      int key = in.getInt();
      float weight = in.getFloat();
      boolean isKnown = parent >= 0 && parent <= Math.max(0, of - 1) && key >= 0 && key < KEYS;
      if (!isKnown || !isCount(weight) || weight < 1) return false;
      if (of != ROOT && (depth(parent) + 1 == DEPTHS || child(parent, key, weight) != of)) {
        return false;
      }
      for (int at = of * AGES; at < (of + 1) * AGES; at++) {
        returned[at] = in.getFloat();
        reached[at] = in.getFloat();
        if (!isCount(returned[at]) || !isCount(reached[at])) return false;
      }
      refresh(of);
    }
    return true;
  }

  /** Returns whether the number is a possible amount of evidence. */
  static boolean isCount(float number) {
    return number >= 0 && number < COUNT_MAX;
  }

  /** From now on classes differ from their parents as far as chance does not explain it. */
  void trust() {
    isTrusted = true;
  }

  /** From now on, once there was time to prove it, classes must differ far more to count. */
  void distrust() {
    isTrusted = false;
  }

  /** Counts a request; a few classes are then refreshed. */
  void ended() {
    requests++;
    refreshesLeft = REFRESHES_MAX;
    if (requests % REQUESTS_PER_TURN != 0) return;
    makeDue(nextClass);
    nextClass = nextClass + 1 == classes ? 0 : nextClass + 1;
  }

  /** Refreshes the next class that is due and tells which, or {@link #NONE}. */
  int refreshNext() {
    if (refreshesLeft == 0 || dueCount == 0) return NONE;
    refreshesLeft--;
    dueCount--;
    // Upwards, since a class is younger than its parent and rests on it.
    int of = due.nextAround(hand);
    due.remove(of);
    hand = of + 1 == CLASSES_MAX ? 0 : of + 1;
    refresh(of);
    return of;
  }

  private int open(int parent, float parentWeight) {
    int made = classes++;
    if (made == parents.length) grow(Math.min(CLASSES_MAX, 2 * made));
    parents[made] = parent;
    parentWeights[made] = parentWeight;
    decays[made] = decaysDue();
    refresh(made);
    return made;
  }

  private void grow(int to) {
    parents = Arrays.copyOf(parents, to);
    newsLeft = Arrays.copyOf(newsLeft, to);
    refreshed = Arrays.copyOf(refreshed, to);
    parentWeights = Arrays.copyOf(parentWeights, to);
    squares = Arrays.copyOf(squares, to);
    variances = Arrays.copyOf(variances, to);
    decays = Arrays.copyOf(decays, to);
    children = Arrays.copyOf(children, to * KEYS);
    returned = Arrays.copyOf(returned, to * AGES);
    reached = Arrays.copyOf(reached, to * AGES);
    hazards = Arrays.copyOf(hazards, to * AGES);
    indices = Arrays.copyOf(indices, to * AGES);
  }

  private int decaysDue() {
    return (int) (requests / DECAY_REQUESTS);
  }

  private void refresh(int of) {
    decay(of);
    var above = of == ROOT ? expected() : hazards;
    int from = of == ROOT ? 0 : parents[of] * AGES;
    int row = of * AGES;
    double weight = parentWeights[of];
    double own = of == ROOT || parents[of] == ROOT || isApart(of) ? 1 : difference(of);
    for (int age = 0; age < AGES; age++) {
      double other = above[from + age];
      double hazard = (returned[row + age] + weight * other) / (reached[row + age] + weight);
      hazards[row + age] = (float) Math.min(HAZARD_MAX, other + own * (hazard - other));
    }
    value(row);
    newsLeft[of] = NEWS_SHARE * (reached[row] + parentWeights[of]);
    refreshed[of] = ++refreshes;
  }

  /** Returns whether enough requests have ended to tell classes apart by more than their order. */
  boolean areSettled() {
    return requests >= REQUESTS_SETTLED;
  }

  /** Returns whether the class is one of those that are less like their parents. */
  boolean isApart(int of) {
    return parentWeights[of] != PARENT_WEIGHT;
  }

  /**
   * Returns the hazards to expect of all classes together: the prior, but reduced where fewer than
   * it predicts returned at the ages before. Otherwise the first to reach an age would seem worth
   * more than the many that are younger and known not to return.
   */
  private float[] expected() {
    if (!areSettled()) return prior;
    double returns = 0;
    double awaited = 0;
    for (int age = 0; age < AGES; age++) {
      double share = (returns + PRIOR_RETURNS) / (awaited + PRIOR_RETURNS);
      expected[age] = (float) (prior[age] * Math.min(1, share));
      returns = returns / 2 + returned[age];
      awaited = awaited / 2 + reached[age] * prior[age];
    }
    return expected;
  }

  /**
   * Returns the share of the difference between the class and its parent that is real, from 0 to 1:
   * by how many more or fewer returned than the parent's hazards predict, beside what chance
   * explains.
   */
  private double difference(int of) {
    int row = of * AGES;
    int from = parents[of] * AGES;
    double more = 0;
    double variance = 0;
    for (int age = 0; age < AGES; age++) {
      double hazard = hazards[from + age];
      more += returned[row + age] - reached[row + age] * hazard;
      variance += reached[row + age] * hazard * (1 - hazard);
    }
    double square = more * more / (variance + VARIANCE_MORE);
    int depth = depth(of);
    squaresAt[depth] += square - squares[of];
    chancesAt[depth] += chance(variance) - chance(variances[of]);
    squares[of] = (float) square;
    variances[of] = (float) variance;
    double doubt = chance(variance) * doubt(squaresAt[depth] / Math.max(1, chancesAt[depth]));
    if (!isTrusted && areSettled()) doubt = chance(variance) * DOUBT_UNTRUSTED;
    return square <= doubt ? 0 : 1 - doubt / square;
  }

  private static double chance(double variance) {
    return variance / (variance + VARIANCE_MORE);
  }

  /**
   * Returns the multiple of chance by which a class must differ, given that of its depth on the
   * whole.
   */
  private static double doubt(double differences) {
    double sure = (differences - 1) / (DIFFERENCE_SURE - 1);
    return DOUBT_MAX - (DOUBT_MAX - 1) * Math.clamp(sure, 0, 1);
  }

  private int depth(int of) {
    int depth = 0;
    for (int at = of; at != ROOT; at = parents[at]) depth++;
    return depth;
  }

  private void decay(int of) {
    int due = decaysDue();
    if (decays[of] == due) return;
    float factor = (float) StrictMath.pow(DECAY, due - decays[of]);
    for (int at = of * AGES; at < (of + 1) * AGES; at++) {
      returned[at] *= factor;
      reached[at] *= factor;
    }
    decays[of] = due;
  }

  /**
   * Computes the indices of a class from its hazards. With the hits and the time after the end of
   * each bucket, the index at an age is the steepest way from the middle of its bucket to an end.
   */
  private void value(int row) {
    double left = 1;
    for (int age = 0; age < AGES; age++) {
      leftAt[age] = left;
      left *= 1 - hazards[row + age];
    }
    double hits = 0;
    double time = 0;
    int size = 0;
    for (int age = AGES - 1; age >= 0; age--) {
      hitsAfter[age] = hits;
      timeAfter[age] = time;
      size = extendHull(size, age);
      double hazard = hazards[row + age];
      double width = edges[age + 1] - edges[age];
      double half = Math.sqrt(1 - hazard);
      double leftHalfway = leftAt[age] * half;
      double hitsFrom = hits + leftHalfway * (1 - half);
      double timeFrom = time + leftHalfway * width * (1 + half) / 4;
      indices[row + age] = (float) steepest(size, hitsFrom, timeFrom);
      hits += leftAt[age] * hazard;
      time += leftAt[age] * width * (1 - hazard / 2);
    }
  }

  /**
   * Adds the end of that bucket to the ends after it, and drops those which no way from before it
   * can be steepest to.
   */
  private int extendHull(int size, int age) {
    int top = size;
    while (top > 1) {
      int next = hull[top - 1];
      double there = slope(next, hitsAfter[age], timeAfter[age]);
      if (there > slope(hull[top - 2], hitsAfter[next], timeAfter[next])) break;
      top--;
    }
    hull[top] = age;
    return top + 1;
  }

  private double steepest(int size, double hitsFrom, double timeFrom) {
    double best = slope(hull[size - 1], hitsFrom, timeFrom);
    for (int at = size - 2; at >= 0; at--) {
      double next = slope(hull[at], hitsFrom, timeFrom);
      if (next < best) break;
      best = next;
    }
    return best;
  }

  private double slope(int end, double hitsFrom, double timeFrom) {
    return (hitsFrom - hitsAfter[end]) / (timeFrom - timeAfter[end]);
  }
}
