/**
 * KV memory over several tiers. {@link dev.kvasir.offload.TieredKvCache} implements {@link
 * dev.kvasir.kv.KvStore} for one engine: blocks go down by a pipeline for each edge of the tiers,
 * and come back up before a prompt is computed. {@link dev.kvasir.offload.CommonTiers} holds the
 * tiers that several engines share.
 *
 * <p>A tier that fails, stalls or fills up costs time, never a request (INV-5).
 */
package dev.kvasir.offload;
