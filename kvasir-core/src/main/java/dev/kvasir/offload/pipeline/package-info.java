/**
 * Moves blocks from one tier to the next in four stages: policy, precondition, batch, transfer. A
 * request returns a handle. Its blocks can be cancelled until they are upgraded from weak to strong
 * holds.
 *
 * <pre>
 *   enqueue -> PolicyEvaluator -> PreconditionAwaiter -> Batcher -> TransferExecutor -> store
 *               filtered          cancelled          cancelled    evicted, failed, completed
 * </pre>
 *
 * <p>Every transfer ends once, and completed + failed + evicted + filtered + cancelled = submitted;
 * a cancellation is confirmed within two sweeps (INV-2). Queues are bounded (INV-4).
 */
package dev.kvasir.offload.pipeline;
