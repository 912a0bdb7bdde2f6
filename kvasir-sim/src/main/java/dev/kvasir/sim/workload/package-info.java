/**
 * Requests of a run: random ones from a specification, or those of a trace.
 *
 * <pre>
 *   WorkloadSpec --> Synthetic --.
 *                                 >--> Workload --> requests as they arrive
 *   Trace --> OpenLoop, ClosedLoop, WaitingCallers
 * </pre>
 *
 * <p>Every purpose has its own random stream, so a change in one place changes nothing elsewhere. A
 * {@link dev.kvasir.sim.workload.Content} stands for the tokens of a prompt without holding them.
 */
package dev.kvasir.sim.workload;
