/**
 * Blocks of KV cache: their states, the pool of one tier, the registry of all tiers, and the
 * interface of KV memory to an engine ({@link dev.kvasir.kv.KvStore}).
 *
 * <pre>
 *   Empty --> Partial --> Ready --> Inflight --> Complete --> Registered --> cached --> evicted
 *     ^          ^___________________/ not full yet             |   ^________/ held again
 *     |_________________________________________________________|  released
 * </pre>
 *
 * <p>In every pool free + held + cached = total, and a failed allocation changes nothing (INV-1). A
 * failed transfer never registers a block (INV-3).
 */
package dev.kvasir.kv;
