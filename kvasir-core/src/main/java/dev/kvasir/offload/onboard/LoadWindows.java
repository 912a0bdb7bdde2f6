package dev.kvasir.offload.onboard;

/**
 * The part of a tier's loads that its store has at a time.
 *
 * <p>A store has room for so many copies and refuses others, so a load is handed to it in windows,
 * in the order of the prefix. The loads take turns, so that each has a fair share of a slow store.
 *
 * @param copiesMax copies that the store has at a time at most
 * @param windowMax copies of one load that it is handed together at most
 */
public record LoadWindows(int copiesMax, int windowMax) {
  private static final int WINDOW_USUAL = 32;

  /** Each load in one piece, for stores that refuse nothing. */
  public static final LoadWindows WHOLE = new LoadWindows(Integer.MAX_VALUE, Integer.MAX_VALUE);

  public LoadWindows {
    if (windowMax < 1 || windowMax > copiesMax) {
      throw new IllegalArgumentException(
          "windows of " + windowMax + " of " + copiesMax + " copies, expected 1 to all of them");
    }
  }

  /** Half of the queue of a store: a store below it copies through the same queue. */
  public static LoadWindows of(int queueMax) {
    int copiesMax = Math.max(1, queueMax / 2);
    return new LoadWindows(copiesMax, Math.min(WINDOW_USUAL, copiesMax));
  }
}
