/**
 * The port to a tier's bytes, {@link dev.kvasir.offload.store.TierStore}, and what stands in front
 * of any store: a breaker for one that fails, a relay for one that belongs to another loop.
 *
 * <p>A read returns the exact bytes stored under the full key, or a miss (INV-3).
 */
package dev.kvasir.offload.store;
