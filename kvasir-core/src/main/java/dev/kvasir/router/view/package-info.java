/**
 * What a decision can see: the request, the workers with their load and signals, and what each has
 * cached. Records only; nothing here changes.
 */
package dev.kvasir.router.view;
