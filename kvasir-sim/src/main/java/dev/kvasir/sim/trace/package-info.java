/**
 * Readers of recorded traces: Kvasir's captures and the formats of others.
 *
 * <pre>
 *   bytes (plain or gzip) --> Lines --> RowReader of the TraceFormat --> Trace, sorted by arrival
 * </pre>
 *
 * <p>A trace is read while it is used, so it may be larger than memory. Every error is a {@link
 * dev.kvasir.sim.trace.TraceError} with the place, the problem and the remedy.
 */
package dev.kvasir.sim.trace;
