package dev.kvasir.live.dashboard;

/** Where the dashboard's figures come from: the live product, or a script. */
@FunctionalInterface
public interface DashboardSource {
  /** The current state; called about once a second by any thread that may wait a little. */
  DashboardState snapshot();
}
