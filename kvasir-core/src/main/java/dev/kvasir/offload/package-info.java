/**
 * A KV cache over several tiers of memory. {@link dev.kvasir.offload.TieredKvCache} implements
 * {@link dev.kvasir.kv.KvStore} for one engine. A pipeline between each two tiers moves blocks
 * down. Blocks are loaded back up before a prompt is computed. {@link
 * dev.kvasir.offload.CommonTiers} holds the tiers that several engines share.
 *
 * <p>A tier that fails, stalls or fills up costs time, never a request (INV-5).
 */
package dev.kvasir.offload;
