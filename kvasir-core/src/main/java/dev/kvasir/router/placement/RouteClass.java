package dev.kvasir.router.placement;

/** Class of a request by how much of it has yet to be computed where it decodes. */
public enum RouteClass {
  /** Nearly all of it is cached. */
  WARM,
  MEDIUM,
  /** So much that it may pay to compute it elsewhere. */
  HEAVY;

  /**
   * Limits between the classes.
   *
   * @param warmTokensMax fewer uncached tokens than that are warm whatever the prompt
   * @param warmShareMax a smaller uncached share of the prompt than that is warm, unless heavy
   * @param heavyTokensMin as many uncached tokens are heavy
   */
  public record Limits(int warmTokensMax, double warmShareMax, int heavyTokensMin) {
    public static final Limits DEFAULT = new Limits(512, 0.1, 2_048);

    public Limits {
      if (warmTokensMax < 0 || heavyTokensMin < warmTokensMax) {
        throw new IllegalArgumentException(
            "warm below " + warmTokensMax + " tokens, heavy from " + heavyTokensMin);
      }
      if (!(warmShareMax >= 0 && warmShareMax <= 1)) {
        throw new IllegalArgumentException("warm share " + warmShareMax + ", expected 0 to 1");
      }
    }
  }

  public static RouteClass of(int uncachedTokens, int promptTokens, Limits limits) {
    if (uncachedTokens < limits.warmTokensMax) return WARM;
    if (uncachedTokens >= limits.heavyTokensMin) return HEAVY;
    return uncachedTokens < limits.warmShareMax * promptTokens ? WARM : MEDIUM;
  }

  /**
   * The {@code route_class} of the document on elastic offload: a heavy request is distinguished by
   * where it prefills.
   */
  public String label(PrefillPlacement placement) {
    if (this != HEAVY) return name();
    return switch (placement) {
      case PrefillPlacement.Offload _ -> "HEAVY_P2P";
      case PrefillPlacement.Colocate _ -> "HEAVY_COLO";
    };
  }
}
