/**
 * Decides whether a long prompt is prefilled by another worker than the one that decodes it. Each
 * policy is a pure function. Its answer holds the reason and both predicted costs.
 */
package dev.kvasir.router.placement;
