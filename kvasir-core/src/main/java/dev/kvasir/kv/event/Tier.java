package dev.kvasir.kv.event;

import java.util.Locale;

/**
 * The levels of memory that blocks may lie on, fastest first.
 *
 * <p>A tier is a position in this list. Code that counts by tier has an array with an entry for
 * each, so a new tier is one more line here.
 */
public enum Tier {
  DEVICE(0, 1),
  HOST(1, 0.75),
  DISK(2, 0.25),
  /** The memory of a server that others use too. */
  REMOTE(3, 0.2),
  OBJECT(4, 0.1);

  private final int level;
  private final double credit;

  Tier(int level, double credit) {
    this.level = level;
    this.credit = credit;
  }

  /** Its position; the fastest tier is at 0. */
  public int level() {
    return level;
  }

  /** Returns the share of its prefill that a block fetched from there saves: 1 for all of it. */
  public double credit() {
    return credit;
  }

  /** Its name in files, options, JSON and metrics. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
