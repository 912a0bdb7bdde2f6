package dev.kvasir.kv;

/**
 * Part of a sequence that needs no computing.
 *
 * @param blocks number of blocks at the beginning that are in the engine's memory
 * @param idle number of these that are not held; holding them makes fewer blocks available
 * @param below number of blocks behind them that lie on slower tiers and are worth fetching
 * @param examined number of leading blocks that the answer depends on: it stays valid while these
 *     do not change
 */
public record KvMatch(int blocks, int idle, int below, int examined) {
  public static final KvMatch NONE = new KvMatch(0, 0, 0);

  /** Nothing is there, whatever changes. */
  static final KvMatch NEVER = new KvMatch(0, 0, 0, 0);

  public KvMatch {
    if (blocks < 0 || idle < 0 || idle > blocks || below < 0) {
      throw new IllegalArgumentException(
          blocks + " blocks matched, " + idle + " of them idle, " + below + " below");
    }
    if (examined < blocks + below) {
      throw new IllegalArgumentException(
          "%s blocks matched and %s below, only %s examined".formatted(blocks, below, examined));
    }
  }

  /** An answer that rests on the blocks it counts and on the one behind them. */
  public KvMatch(int blocks, int idle, int below) {
    this(blocks, idle, below, blocks + below + 1);
  }
}
