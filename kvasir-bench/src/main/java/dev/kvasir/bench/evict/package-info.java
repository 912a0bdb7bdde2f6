/** Measurements of the cost of eviction to the loop that it runs on. */
package dev.kvasir.bench.evict;
