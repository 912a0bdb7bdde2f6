package dev.kvasir.engine;

import java.util.Comparator;

/** Rule for which sequence is admitted first. */
public enum SchedulingPolicy {
  /**
   * First come, first served; preempted sequences come before all. One that had blocks fetched from
   * a slower tier keeps its place.
   */
  FIRST_COME,
  /** The most urgent. */
  PRIORITY,
  /** The shortest prompt. */
  SHORTEST_PROMPT,
  /** The least urgent: of use only to show what priorities do. */
  REVERSE_PRIORITY;

  /** A queue that keeps this order. */
  WaitQueue open() {
    return switch (this) {
      case FIRST_COME -> new WaitQueue(Comparator.comparingLong(each -> each.turn));
      case PRIORITY -> sorted(Comparator.comparingInt(each -> each.request().priority()));
      case SHORTEST_PROMPT ->
          sorted(Comparator.comparingInt(each -> each.request().promptTokens()));
      case REVERSE_PRIORITY -> sorted(Comparator.comparingInt(each -> -each.request().priority()));
    };
  }

  private static WaitQueue sorted(Comparator<Sequence> first) {
    return new WaitQueue(
        first
            .thenComparingLong(each -> each.request().arrivalNanos())
            .thenComparing(each -> each.request().id()));
  }
}
