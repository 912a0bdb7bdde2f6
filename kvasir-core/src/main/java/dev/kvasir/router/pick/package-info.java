/**
 * Chooses the worker that answers a request: pure functions from a view of the cluster to a worker.
 */
package dev.kvasir.router.pick;
