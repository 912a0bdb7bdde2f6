/**
 * Records which worker holds which blocks, from KV events and from routed requests. {@link
 * dev.kvasir.router.index.KvFeed} sorts events and detects gaps and restarts; {@link
 * dev.kvasir.router.index.BlockUnits} splits an engine's blocks, of any size, into blocks of the
 * index. The index is bounded and drops the oldest entries first (INV-4).
 */
package dev.kvasir.router.index;
