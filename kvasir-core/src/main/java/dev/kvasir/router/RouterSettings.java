package dev.kvasir.router;

import dev.kvasir.router.index.IndexSettings;
import dev.kvasir.router.placement.RouteClass;
import dev.kvasir.router.placement.StickyLimits;
import dev.kvasir.router.view.Estimates;
import java.time.Duration;

/**
 * The settings of a router, without its policies.
 *
 * @param blockTokens tokens of a block
 * @param freshness how long an engine's report is used
 * @param start the estimates to begin with
 */
public record RouterSettings(
    int blockTokens,
    Duration freshness,
    Estimates start,
    RouteClass.Limits classes,
    StickyLimits sessions,
    IndexSettings index) {
  public static final RouterSettings DEFAULT =
      new RouterSettings(
          16,
          Duration.ofSeconds(2),
          Estimates.DEFAULT,
          RouteClass.Limits.DEFAULT,
          StickyLimits.DEFAULT,
          IndexSettings.DEFAULT);

  public RouterSettings {
    if (blockTokens < 1 || freshness.isNegative()) {
      throw new IllegalArgumentException(
          "blocks of " + blockTokens + " tokens, freshness " + freshness);
    }
  }

  public RouterSettings withBlockTokens(int tokens) {
    return new RouterSettings(tokens, freshness, start, classes, sessions, index);
  }

  public RouterSettings withFreshness(Duration time) {
    return new RouterSettings(blockTokens, time, start, classes, sessions, index);
  }

  public RouterSettings withStart(Estimates estimates) {
    return new RouterSettings(blockTokens, freshness, estimates, classes, sessions, index);
  }

  public RouterSettings withSessions(StickyLimits limits) {
    return new RouterSettings(blockTokens, freshness, start, classes, limits, index);
  }

  public RouterSettings withIndex(IndexSettings settings) {
    return new RouterSettings(blockTokens, freshness, start, classes, sessions, settings);
  }

  public RouterSettings withClasses(RouteClass.Limits limits) {
    return new RouterSettings(blockTokens, freshness, start, limits, sessions, index);
  }
}
