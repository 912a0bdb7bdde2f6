package dev.kvasir.router.worker;

import dev.kvasir.router.view.RouteRequest;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

/**
 * Facts that are known of a request once its prompt has been read.
 *
 * @param model empty where it names none
 * @param route what the router is asked
 * @param isSplittable whether one worker can prefill it for another
 * @param isWhole whether its answer comes in one piece, so that nobody sees its first token
 * @param needs what not every worker can do
 * @param contextTokens how long prompt and answer may become together; 0 where that is not known
 */
public record Submission(
    String model,
    RouteRequest route,
    boolean isSplittable,
    boolean isWhole,
    Set<Need> needs,
    int contextTokens) {
  /** Those of a request that any worker of its model can answer. */
  public static final Set<Need> NO_NEEDS = Collections.unmodifiableSet(EnumSet.noneOf(Need.class));

  public Submission {
    needs = needs.isEmpty() ? NO_NEEDS : Collections.unmodifiableSet(EnumSet.copyOf(needs));
  }

  /** Returns this submission with another question for the router. */
  public Submission with(RouteRequest other) {
    return new Submission(model, other, isSplittable, isWhole, needs, contextTokens);
  }
}
