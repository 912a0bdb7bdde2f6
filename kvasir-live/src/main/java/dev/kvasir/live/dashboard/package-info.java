/**
 * The page at the root of a server, and the state that it shows.
 *
 * <p>A {@link dev.kvasir.live.dashboard.DashboardSource} makes a {@link
 * dev.kvasir.live.dashboard.DashboardState}, a snapshot in plain records; the page reads it as
 * JSON. The page loads nothing from other hosts and holds no text of requests.
 */
package dev.kvasir.live.dashboard;
