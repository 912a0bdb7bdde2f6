/**
 * Runs a model on CPUs: its shape and weights, the forward pass over the rows of a step, and the
 * model that ships with Kvasir. This package knows tokens and KV slots, but no requests, servers or
 * tiers.
 */
package dev.kvasir.model;
