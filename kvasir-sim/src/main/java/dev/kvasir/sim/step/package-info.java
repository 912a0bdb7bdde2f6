/**
 * Steps that take time in place of a model: when each begins and ends, and when its tokens come.
 */
package dev.kvasir.sim.step;
