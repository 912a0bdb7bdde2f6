package dev.kvasir.kv.evict.learned;

import dev.kvasir.kv.evict.policy.EvictionPolicy;

/**
 * Fields of each slot, side by side: the segment of its block, the block that this one follows, and
 * the name of the block.
 */
abstract sealed class SlotRows permits LearnedEviction {
  private static final int ROW_SHIFT = 3;

  static final int OWNER = 0;
  static final int PARENT = 1;
  static final int CHILDREN = 2;

  /** Number of blocks that left the slot before those that follow them; the parent's is below. */
  static final int TURNS = 3;

  static final int MARKS = 4;
  static final int BEFORE = 5;
  static final int AFTER = 6;
  static final int NAME = 7;

  /** The marks: what the slot is, how many forks the block has had, and part of its name. */
  static final int CACHED = 1;

  static final int FRESH = 2;
  static final int LISTED = 4;
  static final int GONE = 8;

  /** The block is remembered by its name. */
  static final int NAMED = 16;

  static final int FORKS_SHIFT = 5;
  static final int FORKS_MAX = (1 << 11) - 1;
  static final int NAME_SHIFT = 16;
  static final int TURN_SHIFT = 16;
  static final int TURN = (1 << TURN_SHIFT) - 1;

  final int[] rows;

  SlotRows(int slots) {
    this.rows = new int[Math.multiplyExact(slots, 1 << ROW_SHIFT)];
    for (int slot = 0; slot < slots; slot++) rows[at(slot, MARKS)] = GONE;
  }

  /** The slot has a block of the segment, which follows none yet. */
  final void enter(int slot, int segment, long name, int marks) {
    int row = at(slot, 0);
    rows[row + OWNER] = segment;
    rows[row + NAME] = (int) name;
    rows[row + MARKS] = (int) (name >>> Integer.SIZE) << NAME_SHIFT | marks;
    rows[row + CHILDREN] = 0;
    rows[row + PARENT] = EvictionPolicy.NONE;
  }

  /** Returns whether the block in the slot follows the one that is in the other slot now. */
  final boolean follows(int slot, int parent) {
    return rows[at(slot, PARENT)] == parent
        && (rows[at(slot, TURNS)] & TURN) == rows[at(parent, TURNS)] >>> TURN_SHIFT
        && (rows[at(parent, MARKS)] & GONE) == 0;
  }

  final int forksOf(int slot) {
    return rows[at(slot, MARKS)] >>> FORKS_SHIFT & FORKS_MAX;
  }

  final long nameOf(int slot) {
    long high = (long) (rows[at(slot, MARKS)] >>> NAME_SHIFT);
    return (high << Integer.SIZE) | (rows[at(slot, NAME)] & 0xffffffffL);
  }

  static int at(int slot, int field) {
    return (slot << ROW_SHIFT) + field;
  }
}
