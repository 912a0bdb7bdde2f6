/**
 * What becomes of blocks, for those who keep an index of them: stored, removed, cleared, each with
 * its tier. A slow subscriber is told how much it missed; nothing grows without a bound (INV-4).
 */
package dev.kvasir.kv.event;
