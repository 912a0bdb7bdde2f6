/**
 * Loads blocks from slower tiers: finds the prefix there, decides whether loading is faster than
 * computing, and loads each block once for all requests that want it. Each request is answered
 * within its deadline with the blocks that have arrived (INV-5).
 */
package dev.kvasir.offload.onboard;
