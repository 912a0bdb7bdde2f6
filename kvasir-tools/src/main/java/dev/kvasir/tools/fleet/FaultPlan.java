package dev.kvasir.tools.fleet;

import dev.kvasir.embedded.FaultInjection;
import java.util.ArrayDeque;
import java.util.Deque;

/** The faults still to be injected, in the order they were asked for. */
public final class FaultPlan implements FaultInjection {
  private static final int FAULTS_MAX = 100_000;

  private final Deque<Fault> owed = new ArrayDeque<>();

  /** The next so many answers have this fault. */
  public synchronized void add(Fault fault, int answers) {
    if (answers < 1 || answers > FAULTS_MAX - owed.size()) {
      throw new IllegalArgumentException(
          answers + " answers, expected 1 to " + (FAULTS_MAX - owed.size()));
    }
    for (int i = 0; i < answers; i++) owed.add(fault);
  }

  public synchronized int owed() {
    return owed.size();
  }

  @Override
  public synchronized Fault next() {
    var fault = owed.poll();
    return fault == null ? Fault.NONE : fault;
  }
}
