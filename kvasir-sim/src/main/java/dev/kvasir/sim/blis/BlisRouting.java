package dev.kvasir.sim.blis;

import dev.kvasir.sim.workload.Request;
import java.util.List;

/** Admission and routing as BLIS does them. */
public final class BlisRouting {
  private long turns;

  boolean admits(Request request, List<BlisInstance> instances, long nowMicros) {
    return true;
  }

  int pick(Request request, List<BlisInstance> instances, long nowMicros) {
    return (int) (turns++ % instances.size());
  }

  void left(int instance) {}
}
