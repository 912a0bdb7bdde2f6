package dev.kvasir.kv.event;

/** A level of the memory ladder, fastest and smallest first. */
public enum Tier {
  DEVICE(0),
  HOST(1),
  DISK(2),
  /** The memory of a server that others use too. */
  REMOTE(3),
  OBJECT(4);

  private final int level;

  Tier(int level) {
    this.level = level;
  }

  /** How far down the ladder it is; the fastest tier is at 0. */
  public int level() {
    return level;
  }
}
