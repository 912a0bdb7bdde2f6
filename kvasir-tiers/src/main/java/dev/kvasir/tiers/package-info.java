/**
 * The tiers below the memory of engines: what a deployment says of them, and the stores, pools and
 * edges that follow from it. Embedded engines and the tier daemon use the same.
 *
 * <p>A tier that cannot be opened costs the tier, not the service (INV-5). Each tier is bounded by
 * its number of blocks (INV-4).
 */
package dev.kvasir.tiers;
