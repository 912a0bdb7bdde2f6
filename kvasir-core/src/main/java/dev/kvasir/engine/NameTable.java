package dev.kvasir.engine;

import dev.kvasir.Nullable;
import dev.kvasir.kv.KvWatch;
import java.util.Arrays;
import java.util.List;

/**
 * Finds sequences by the names of blocks.
 *
 * <p>Rows are only ever added; a row is stale once its sequence was entered again or has left.
 * Stale rows are thrown out when room is needed.
 */
final class NameTable {
  /** The most rows; when more would be needed, everything is thrown out. */
  static final int ROWS_MAX = 1 << 16;

  private static final int CAPACITY_MIN = 64;

  private static final long LEFT = 0;
  private static final int NONE = -1;

  private final List<KvWatch> watches;
  private final int rowsMax;
  private int[] heads = new int[CAPACITY_MIN];
  private int[] links = new int[CAPACITY_MIN];
  private long[] keys = new long[CAPACITY_MIN];
  private long[] entries = new long[CAPACITY_MIN];
  private @Nullable Sequence[] sequences = new Sequence[CAPACITY_MIN];
  private int size;
  private int current;
  private long overflows;
  private long lastEntry;
  private long clearedEntry;

  /**
   * A table that registers every entered name with these watches.
   *
   * @param rowsMax the most rows; a power of two
   */
  NameTable(List<KvWatch> watches, int rowsMax) {
    if (Integer.bitCount(rowsMax) != 1 || rowsMax < CAPACITY_MIN) {
      throw new IllegalArgumentException(
          rowsMax + " rows at most, expected a power of two from " + CAPACITY_MIN + " up");
    }
    this.watches = watches;
    this.rowsMax = rowsMax;
    Arrays.fill(heads, NONE);
  }

  /** Returns whether no sequence is entered. */
  boolean isEmpty() {
    return current == 0;
  }

  /** Returns the number of rows, stale ones included. */
  int size() {
    return size;
  }

  /** Returns how often sequences were thrown out for lack of room, of whom nothing had changed. */
  long overflows() {
    return overflows;
  }

  /** Returns whether the sequence was entered, and neither it nor all were thrown out since. */
  boolean isCurrent(Sequence sequence) {
    return sequence.nameEntry > clearedEntry;
  }

  /** Enters the sequence under the names of that many of its first blocks. */
  void enter(Sequence sequence, int blocks) {
    leave(sequence);
    makeRoom(blocks);
    sequence.nameEntry = ++lastEntry;
    current++;
    var names = sequence.request().names();
    for (int i = 0; i < blocks; i++) add(KvWatch.key(names.name(i)), sequence, lastEntry);
  }

  void leave(Sequence sequence) {
    if (!isCurrent(sequence)) return;
    sequence.nameEntry = LEFT;
    if (--current == 0 && size > heads.length / 2) clear();
  }

  /** Removes all sequences that are entered under that name, and returns their number. */
  int forget(long key) {
    int count = 0;
    for (int row = heads[home(key)]; row != NONE; row = links[row]) {
      var sequence = sequences[row];
      if (keys[row] != key || sequence == null || sequence.nameEntry != entries[row]) continue;
      sequence.nameEntry = LEFT;
      current--;
      count++;
    }
    return count;
  }

  void clear() {
    clearedEntry = lastEntry;
    current = 0;
    Arrays.fill(heads, NONE);
    Arrays.fill(sequences, 0, size, null);
    size = 0;
    for (var watch : watches) watch.clear();
  }

  private void add(long key, Sequence sequence, long entry) {
    int home = home(key);
    keys[size] = key;
    entries[size] = entry;
    sequences[size] = sequence;
    links[size] = heads[home];
    heads[home] = size++;
    for (var watch : watches) watch.add(key);
  }

  private void makeRoom(int rows) {
    if (size + rows <= heads.length) return;
    compact();
    // Nearly full of what is not stale it would have to be compacted again and again.
    if (size + rows > rowsMax / 4 * 3) overflow();
    else if (size + rows > heads.length / 2) grow(size + rows);
  }

  private void overflow() {
    if (current > 0) overflows++;
    clear();
  }

  private void compact() {
    int kept = 0;
    for (int row = 0; row < size; row++) {
      var sequence = sequences[row];
      if (sequence == null || sequence.nameEntry != entries[row]) continue;
      keys[kept] = keys[row];
      entries[kept] = entries[row];
      sequences[kept++] = sequence;
    }
    Arrays.fill(sequences, kept, size, null);
    size = kept;
    link();
  }

  private void grow(int rows) {
    int capacity = heads.length;
    while (rows > capacity / 2 && capacity < rowsMax) capacity *= 2;
    heads = new int[capacity];
    links = new int[capacity];
    keys = Arrays.copyOf(keys, capacity);
    entries = Arrays.copyOf(entries, capacity);
    sequences = Arrays.copyOf(sequences, capacity);
    link();
  }

  private void link() {
    Arrays.fill(heads, NONE);
    for (var watch : watches) watch.clear();
    for (int row = 0; row < size; row++) {
      int home = home(keys[row]);
      links[row] = heads[home];
      heads[home] = row;
      for (var watch : watches) watch.add(keys[row]);
    }
  }

  private int home(long key) {
    return (int) (key >>> Long.numberOfLeadingZeros(heads.length - 1L));
  }
}
