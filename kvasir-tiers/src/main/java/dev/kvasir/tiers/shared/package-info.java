/**
 * Tiers that several processes share. {@link dev.kvasir.tiers.shared.BlockTransport} is the port to
 * a server; {@link dev.kvasir.tiers.shared.SharedStore} adds queues, deadlines, look-ups and seals.
 * A seal holds checksum, key, layout, model and tenant, so that a block of somebody else is a miss
 * (INV-3, INV-11).
 */
package dev.kvasir.tiers.shared;
