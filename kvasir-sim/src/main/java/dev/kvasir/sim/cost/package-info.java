/** The price of the instances and tiers that a run used. */
package dev.kvasir.sim.cost;
