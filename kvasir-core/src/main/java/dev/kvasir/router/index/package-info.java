/**
 * Which worker holds which blocks, as KV events and routed requests tell. {@link
 * dev.kvasir.router.index.KvFeed} brings events into order and notices gaps and restarts. The index
 * is bounded; what does not fit is forgotten oldest first (INV-4).
 */
package dev.kvasir.router.index;
