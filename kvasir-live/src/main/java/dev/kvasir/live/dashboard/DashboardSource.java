package dev.kvasir.live.dashboard;

/** Where the dashboard's figures come from: the live product, or a script. */
@FunctionalInterface
public interface DashboardSource {
  /** What there is to see now; called by any thread that may wait a little, about once a second. */
  DashboardState snapshot();
}
