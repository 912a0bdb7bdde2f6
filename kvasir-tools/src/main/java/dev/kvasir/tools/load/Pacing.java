package dev.kvasir.tools.load;

/** Decides when requests are sent. */
public sealed interface Pacing {
  /** Returns the number of requests that may be under way at a time. */
  int inFlightMax();

  /**
   * Each at its own time, independent of the others.
   *
   * @param inFlightMax beyond it requests wait here, and the wait counts as theirs
   */
  record Open(int inFlightMax) implements Pacing {
    public Open {
      if (inFlightMax < 1) throw new IllegalArgumentException(inFlightMax + " under way");
    }
  }

  /** So many callers, each of whom asks again as soon as it was answered. */
  record Closed(int callers) implements Pacing {
    public Closed {
      if (callers < 1) throw new IllegalArgumentException(callers + " callers");
    }

    @Override
    public int inFlightMax() {
      return callers;
    }
  }
}
