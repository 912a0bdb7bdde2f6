package dev.kvasir.sim.blis;

import dev.kvasir.engine.EngineSettings.BatchRules;

/**
 * Rules by which BLIS forms batches: a prompt that is cached whole costs nothing and holds no
 * block; a preempted request forgets its output and samples it again; and blocks are taken row by
 * row, so that a victim further ahead has taken blocks in this step, and what they held before is
 * lost.
 */
public enum BlisRules implements BatchRules {
  ALL;

  @Override
  public Taking taking() {
    return Taking.ALL_ONE_BY_ONE;
  }

  @Override
  public int computedOfCached() {
    return 0;
  }

  @Override
  public int keptOutput(int sampled) {
    return 0;
  }
}
