/**
 * What happens to blocks, for subscribers that keep an index of them: stored, removed, cleared,
 * each with its tier. A slow subscriber learns how much it missed; nothing grows without a bound
 * (INV-4).
 */
package dev.kvasir.kv.event;
