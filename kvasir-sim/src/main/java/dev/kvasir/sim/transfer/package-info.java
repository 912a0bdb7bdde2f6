/**
 * Stores, links and networks that take time: the tiers of an instance, and the transfer of KV
 * between instances.
 */
package dev.kvasir.sim.transfer;
