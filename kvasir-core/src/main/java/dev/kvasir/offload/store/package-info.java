/**
 * The interface to a tier's bytes, {@link dev.kvasir.offload.store.TierStore}, and wrappers for any
 * store: a circuit breaker, and a relay through host memory.
 *
 * <p>A read returns the exact bytes stored under the full key, or a miss (INV-3).
 */
package dev.kvasir.offload.store;
