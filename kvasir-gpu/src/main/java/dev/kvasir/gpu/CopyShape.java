package dev.kvasir.gpu;

/**
 * The layout of the blocks of one copy.
 *
 * @param blocks how many
 * @param parts of how many pieces each consists on the GPU
 * @param runs how many groups of blocks lie side by side on both sides
 * @param hostRuns how many groups lie side by side on the host
 */
public record CopyShape(int blocks, int parts, int runs, int hostRuns) {
  public CopyShape {
    if (blocks < 1 || parts < 1 || hostRuns < 1 || runs < hostRuns || runs > blocks) {
      throw new IllegalArgumentException(
          blocks + " blocks of " + parts + " parts, " + runs + " runs, host " + hostRuns);
    }
  }

  /** The shape of these pairs of slots, in ascending order of the host slot. */
  public static CopyShape of(long[] slots, int from, int to, int parts) {
    int runs = 1;
    int hostRuns = 1;
    for (int i = from + 1; i < to; i++) {
      if (host(slots[i]) != host(slots[i - 1]) + 1) {
        hostRuns++;
        runs++;
      } else if (device(slots[i]) != device(slots[i - 1]) + 1) {
        runs++;
      }
    }
    return new CopyShape(to - from, parts, runs, hostRuns);
  }

  /** A pair of slots as one word, which sorts by the host slot. */
  public static long pair(int device, int host) {
    return (long) host << 32 | device;
  }

  public static int device(long pair) {
    return (int) pair;
  }

  public static int host(long pair) {
    return (int) (pair >>> 32);
  }

  int pieces() {
    return blocks * parts;
  }
}
