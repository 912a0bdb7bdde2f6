package dev.kvasir.gateway.dashboard;

/** Source of the dashboard's figures: the live product, or a script. */
@FunctionalInterface
public interface DashboardSource {
  /** The current state; called about once a second by any thread that may wait a little. */
  DashboardState snapshot();
}
