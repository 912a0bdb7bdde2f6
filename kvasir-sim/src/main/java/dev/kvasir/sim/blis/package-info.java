/**
 * A look-alike of BLIS, an independent simulator, for {@code --compat blis} alone: its cluster, its
 * batches, its block store, its routing and Go's random generator. Only the command line knows this
 * package.
 */
package dev.kvasir.sim.blis;
