/**
 * The clocks of instances that run ahead of the router or side by side, as long as they share
 * nothing.
 */
package dev.kvasir.sim.clock;
