/**
 * The input of a routing decision: the request, the workers with their load and signals, and what
 * each has cached. All types are immutable records.
 */
package dev.kvasir.router.view;
