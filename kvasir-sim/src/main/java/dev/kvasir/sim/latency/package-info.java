/**
 * Models of how long a step of an engine takes, the hardware and model sizes they compute from, and
 * fits to measurements.
 *
 * <p>A {@link dev.kvasir.sim.latency.LatencyModel} maps a {@link dev.kvasir.sim.latency.StepShape}
 * to whole microseconds, at least one. It remembers nothing, so several instances may ask at once.
 */
package dev.kvasir.sim.latency;
