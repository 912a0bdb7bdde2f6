/**
 * KV events for subscribers that keep an index of blocks: stored, removed, cleared, each with its
 * tier. A slow subscriber learns how many events it missed. Nothing grows without bound (INV-4).
 */
package dev.kvasir.kv.event;
