package dev.kvasir.sim.report;

/** How many tokens of a request needed no computing, by where they were found. */
public record CachedTokens(int device, int host, int disk, int object) {
  public static final CachedTokens NONE = new CachedTokens(0, 0, 0, 0);

  public static CachedTokens onDevice(int tokens) {
    return tokens == 0 ? NONE : new CachedTokens(tokens, 0, 0, 0);
  }

  public int total() {
    return device + host + disk + object;
  }
}
