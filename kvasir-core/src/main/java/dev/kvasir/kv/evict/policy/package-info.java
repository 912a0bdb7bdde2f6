/**
 * The contract between a pool and its eviction policy: the calls of {@link
 * dev.kvasir.kv.evict.policy.EvictionPolicy}, the view of the pool that a policy gets, and what it
 * is told of requests.
 *
 * <pre>
 *   registered --> cached <--> held
 *        |            |          |
 *     removed      evicted    removed
 * </pre>
 */
package dev.kvasir.kv.evict.policy;
