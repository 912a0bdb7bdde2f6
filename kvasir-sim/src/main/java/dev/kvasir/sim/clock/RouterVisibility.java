package dev.kvasir.sim.clock;

/** View that the router has of the instances when it decides. */
public enum RouterVisibility {
  /** It looks at them: they have to come so far first. */
  LOOKING,
  /** It decides without looking, so that they may be behind. */
  BLIND
}
