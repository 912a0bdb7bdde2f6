package dev.kvasir.router.placement;

import java.util.Locale;

/** Placement of the prefill and the decode of a request, with the reason and both predictions. */
public sealed interface PrefillPlacement {
  /** The instance that decodes. */
  int decode();

  Reason reason();

  Prediction predicted();

  /** One instance does both. */
  record Colocate(int decode, Reason reason, Prediction predicted) implements PrefillPlacement {}

  /** Another instance prefills, and hands over. */
  record Offload(int prefill, int decode, Reason reason, Prediction predicted)
      implements PrefillPlacement {
    public Offload {
      if (prefill == decode) {
        throw new IllegalArgumentException("instance " + decode + " hands over to itself");
      }
    }
  }

  /** Reason why a request prefills where it does; the first that applies, from the top. */
  enum Reason {
    /** Placement elsewhere is switched off. */
    DISABLED,
    /** It is not heavy. */
    BELOW_THRESHOLD,
    /** No other instance is there that could hand over to it. */
    P_UNAVAILABLE,
    /** None of the others has room for its blocks. */
    P_NO_KV_SPACE,
    /** All of the others prefill for as many already as they may. */
    OFFLOAD_CAP,
    /** There is nothing on the decoding instance that it would disturb or wait for. */
    D_IDLE,
    /** The other has as much to do. */
    P_NOT_LESS_LOADED,
    /** The other has far more to do than instances have on average. */
    P_OVERLOADED,
    /** It would come later, or hurt more, than it helps. */
    COST_EXCEEDS_BENEFIT,
    /** The decoding instance meets its target, and no other request there misses its own. */
    MEETS_SLO,
    /** Only elsewhere does it meet its target. */
    OFFLOAD_MEETS_SLO,
    /** The other has nothing to do, the decoding one has. */
    P_IDLE_D_BUSY,
    /** The other has less to do than the decoding one. */
    P_LIGHTER_D_BUSY,
    /** The other is no lighter, but computes less or faster. */
    OFFLOAD_CHEAPER,
    /** Placement elsewhere is the rule. */
    FORCED,
    /** The other failed, and the decoding instance took over. */
    OFFLOAD_FAILED_FALLBACK_COLO,
    /** The other's result did not arrive, and was computed again. */
    KV_PULL_FAILED_RECOMPUTE;

    /** The value of {@code offload_decision_reason}. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }
}
