package dev.kvasir.router.pick;

import java.util.random.RandomGenerator;

/** Chooses among candidates that are equally good. */
@FunctionalInterface
public interface Ties {
  /** A number from 0 to below the count; asked only when the count is 2 or more. */
  int pick(int count);

  /** The first of them, always. */
  static Ties first() {
    return count -> 0;
  }

  /** Each in its turn, so that none is always taken. */
  static Ties inTurn() {
    return new Ties() {
      private int turn;

      @Override
      public int pick(int count) {
        return Math.floorMod(turn++, count);
      }
    };
  }

  static Ties random(RandomGenerator random) {
    return random::nextInt;
  }
}
