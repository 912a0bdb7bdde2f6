/** The cache of a namespace in the tiers of the machine: batches that store and load, costs. */
package dev.kvasir.tierd.cache;
