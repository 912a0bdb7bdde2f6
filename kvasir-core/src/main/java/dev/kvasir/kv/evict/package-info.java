/**
 * The eviction policies by name, and those that do not learn.
 *
 * <p>{@link dev.kvasir.kv.evict.EvictionKind} names them all. Each is one class that implements
 * {@link dev.kvasir.kv.evict.policy.EvictionPolicy}, sees slots, and keeps its state in arrays.
 *
 * <p>The same calls give the same victims, on any machine (INV-10).
 */
package dev.kvasir.kv.evict;
