/**
 * Studies of what caches of a size would find of a trace, without engines and without time: under
 * an eviction policy, and at best.
 */
package dev.kvasir.sim.cache;
