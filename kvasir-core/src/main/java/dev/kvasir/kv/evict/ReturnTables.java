package dev.kvasir.kv.evict;

import java.util.Arrays;

/**
 * How likely requests of each class return at each age, learnt from those that did and did not.
 *
 * <p>The classes are a tree: a class with little evidence is like its parent, and the root is like
 * a fixed prior with a falling hazard, under which the oldest block goes first. Each class has a
 * life table over buckets of age: how many reached the age, and how many returned within it. From
 * that follows an index for each age: the most hits that holding a block on can bring for each unit
 * of time that it is held, where the best moment to give up is chosen (Gittins).
 *
 * <p>Time is counted in block references. The tables are refreshed a few classes at a time.
 */
final class ReturnTables {
  /** Buckets of age. */
  static final int AGES = 33;

  static final int ROOT = 0;
  static final int NONE = -1;

  /** No class has more children than this; keys are below it. */
  static final int KEYS = 16;

  static final int CLASSES_MAX = 2_048;

  /** How many requests it takes to refresh all tables once. */
  private static final int REFRESH_REQUESTS = 16;

  /** How many requests make older evidence count {@link #DECAY} times as much. */
  private static final int DECAY_REQUESTS = 1_024;

  private static final double DECAY = 0.93;

  /** How much evidence of its own weighs as much as the parent's. */
  private static final float PARENT_WEIGHT = 20;

  /** The same for classes that are less like their parent. */
  private static final float PARENT_WEIGHT_APART = 10;

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

  /** How often the evidence of each class has decayed. */
  private int[] decays = new int[CLASSES_FIRST];

  private final double[] hitsUntil = new double[AGES];
  private final double[] timeUntil = new double[AGES];

  private long requests;
  private int nextClass;
  private int refreshesDue;

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

  /** At how many references a block reaches the age. */
  long edge(int age) {
    return edges[age];
  }

  int classes() {
    return classes;
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

  /** What a block of that class and age is worth. */
  float index(int of, int age) {
    return indices[of * AGES + age];
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
    while (at != ROOT) {
      counts[at * AGES + age] += share;
      at = parents[at];
    }
    counts[age] += share;
  }

  /** Counts a request; a few classes are then due to be refreshed. */
  void ended() {
    requests++;
    refreshesDue = Math.ceilDiv(classes, REFRESH_REQUESTS);
  }

  /** Refreshes the next class that is due and tells which, or {@link #NONE}. */
  int refreshNext() {
    if (refreshesDue == 0) return NONE;
    refreshesDue--;
    int of = nextClass;
    nextClass = of + 1 == classes ? 0 : of + 1;
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
    parentWeights = Arrays.copyOf(parentWeights, to);
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
    var above = of == ROOT ? prior : hazards;
    int from = of == ROOT ? 0 : parents[of] * AGES;
    int row = of * AGES;
    double weight = parentWeights[of];
    for (int age = 0; age < AGES; age++) {
      double hazard =
          (returned[row + age] + weight * above[from + age]) / (reached[row + age] + weight);
      hazards[row + age] = (float) Math.min(HAZARD_MAX, hazard);
    }
    value(row);
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
   * Computes the indices of a class from its hazards. With the hits and the time up to the end of
   * each bucket, the index at an age is the steepest way from the middle of its bucket to an end.
   */
  private void value(int row) {
    double left = 1;
    double hits = 0;
    double time = 0;
    for (int age = 0; age < AGES; age++) {
      double hazard = hazards[row + age];
      hits += left * hazard;
      time += left * (edges[age + 1] - edges[age]) * (1 - hazard / 2);
      left *= 1 - hazard;
      hitsUntil[age] = hits;
      timeUntil[age] = time;
    }
    left = 1;
    for (int age = 0; age < AGES; age++) {
      double hazard = hazards[row + age];
      double half = 1 - Math.sqrt(1 - hazard);
      double rest = half * left * (1 - half);
      // Where the second half of the bucket begins, as seen from its end.
      double hitsFrom = hitsUntil[age] - rest;
      double timeFrom =
          timeUntil[age] - left * (1 - half) * (edges[age + 1] - edges[age]) / 2.0 * (1 - half / 2);
      double best = 0;
      for (int end = age; end < AGES; end++) {
        best = Math.max(best, (hitsUntil[end] - hitsFrom) / (timeUntil[end] - timeFrom));
      }
      indices[row + age] = (float) best;
      left *= 1 - hazard;
    }
  }
}
