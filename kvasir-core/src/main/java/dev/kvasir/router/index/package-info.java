/**
 * Which worker holds which blocks, as KV events and routed requests show. {@link
 * dev.kvasir.router.index.KvFeed} brings events into order and notices gaps and restarts; {@link
 * dev.kvasir.router.index.BlockUnits} turns an engine's blocks, of whatever size, into the unit of
 * the index. The index is bounded; what does not fit is forgotten oldest first (INV-4).
 */
package dev.kvasir.router.index;
