package dev.kvasir.router.view;

import dev.kvasir.kv.CachedBlocks;

/**
 * An instance as a policy sees it for one request.
 *
 * @param signals what the engine reported, which may be old, or what is assumed instead
 * @param load what is booked on it
 * @param cached the leading blocks of the request that it holds
 * @param workPerSecond how fast it prefills, see {@link Estimates#work}
 */
public record InstanceView(
    int id,
    Role role,
    String connector,
    EngineSignals signals,
    Load load,
    CachedBlocks cached,
    double workPerSecond) {
  public InstanceView {
    if (!(workPerSecond > 0)) {
      throw new IllegalArgumentException("instance " + id + " at " + workPerSecond + " a second");
    }
  }

  /** An instance of which these are known, at the start speed of the default estimates. */
  public static InstanceView of(int id, EngineSignals signals, Load load, CachedBlocks cached) {
    return new InstanceView(
        id, Role.BOTH, "any", signals, load, cached, Estimates.DEFAULT.workPerSecond());
  }

  InstanceView with(EngineSignals other, Load assumed) {
    return new InstanceView(id, role, connector, other, assumed, cached, workPerSecond);
  }

  /** The requests that it has, each counted once. */
  public int requests() {
    return load.inFlight() + load.foreign();
  }

  /**
   * The load by the rule of BLIS: requests are counted once for being routed and once for being
   * there, as of the last report. Only comparisons with BLIS use it.
   */
  public int effectiveLoad() {
    return signals.queueDepth() + signals.batchSize() + load.inFlight();
  }

  /** Returns whether it can prefill for the other one, over a common connector. */
  public boolean canPrefillFor(InstanceView decode) {
    return id != decode.id
        && role.prefillsForOthers()
        && !connector.isEmpty()
        && connector.equals(decode.connector);
  }
}
