/**
 * The way of blocks back up: what of a prefix lies below, whether loading beats computing, and the
 * loads, one for each block however many ask for it. Each request is answered within the deadline
 * with what has arrived (INV-5).
 */
package dev.kvasir.offload.onboard;
