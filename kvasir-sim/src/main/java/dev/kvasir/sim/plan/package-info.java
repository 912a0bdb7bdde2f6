/** Searches for the cheapest deployment that keeps its targets, in as few runs as it can. */
package dev.kvasir.sim.plan;
