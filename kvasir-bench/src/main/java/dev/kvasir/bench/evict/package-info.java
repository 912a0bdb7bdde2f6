/** What eviction costs the loop that it runs on. */
package dev.kvasir.bench.evict;
