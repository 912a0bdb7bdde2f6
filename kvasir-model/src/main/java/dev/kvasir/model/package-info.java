/**
 * A model on processors: its shape and weights, one forward pass over the rows of a step, and the
 * model that comes with Kvasir. It knows tokens, slots and numbers, but no requests, no servers and
 * no tiers.
 */
package dev.kvasir.model;
