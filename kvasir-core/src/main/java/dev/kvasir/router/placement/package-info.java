/**
 * Whether a long prompt is prefilled by another worker than the one that decodes it. Each policy is
 * a pure function; its answer holds the reason and both predicted costs.
 */
package dev.kvasir.router.placement;
