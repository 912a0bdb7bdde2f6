/**
 * The page at the root of a server, and the state that it shows.
 *
 * <p>A {@link dev.kvasir.gateway.dashboard.DashboardSource} makes a {@link
 * dev.kvasir.gateway.dashboard.DashboardState}, a snapshot in plain records; the page reads it as
 * JSON. The page loads nothing from other hosts and holds no text of requests.
 */
package dev.kvasir.gateway.dashboard;
