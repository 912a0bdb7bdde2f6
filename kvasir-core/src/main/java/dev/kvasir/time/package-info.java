/**
 * Now and later. Everything below the two shells gets the time and its timers from an {@link
 * dev.kvasir.time.EventLoop}: a {@link dev.kvasir.time.VirtualLoop} in tests and in the simulator,
 * a thread with a real clock in the server. A component belongs to one loop, so it needs no locks.
 *
 * <p>Time never runs back, and tasks that are due at the same time run in the order in which they
 * were given (INV-10).
 */
package dev.kvasir.time;
