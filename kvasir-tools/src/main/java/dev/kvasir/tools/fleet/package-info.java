/**
 * Simulated vLLM workers: real HTTP, real KV events and the product's own engine, with a model that
 * only takes time.
 *
 * <p>Faults can be injected while they run: a worker refuses, stalls, breaks off, dies and comes
 * back ({@link dev.kvasir.tools.fleet.FleetControl}).
 */
package dev.kvasir.tools.fleet;
