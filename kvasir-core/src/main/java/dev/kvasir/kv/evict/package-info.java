/**
 * Chooses the cached block to evict when a pool needs room. {@link dev.kvasir.kv.evict.Eviction}
 * names the policies. Each is one class that implements {@link dev.kvasir.kv.evict.EvictionPolicy},
 * sees slots, and keeps its state in arrays.
 *
 * <pre>
 *   registered --> cached <--> held
 *        |            |          |
 *     removed      evicted    removed
 * </pre>
 *
 * <p>The same calls give the same victims, on any machine (INV-10).
 */
package dev.kvasir.kv.evict;
