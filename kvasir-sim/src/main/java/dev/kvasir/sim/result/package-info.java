/**
 * The results of a run as they were measured: of each request, of each instance, over time. {@link
 * dev.kvasir.sim.result.RunResult} holds all of them.
 */
package dev.kvasir.sim.result;
