/**
 * Time and timers. All code below {@code live} and {@code sim} gets both from an {@link
 * dev.kvasir.time.EventLoop}: a {@link dev.kvasir.time.VirtualLoop} in tests and in the simulator,
 * a thread with a real clock in the server. A component belongs to one loop, so it needs no locks.
 *
 * <p>Time never runs back, and tasks that are due at the same time run in the order in which they
 * were submitted (INV-10).
 */
package dev.kvasir.time;
