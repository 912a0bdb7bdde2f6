/**
 * The disk tier: one file of slots, an index log that says which block each slot holds, and
 * checkpoints of it. What was acknowledged is found after a crash or a loss of power.
 *
 * <pre>
 *   free --> writing --> written --> synced --> indexed --> found after a restart
 *              |                                   |
 *           torn: a checksum says so            evicted: free
 * </pre>
 *
 * <p>Every read verifies the checksum and the full key in the block's header (INV-3).
 */
package dev.kvasir.tiers.disk;
