/**
 * The order in which waiting requests are served: by priority, by latency target, or by tenant
 * share. Also bounds the load of each worker and predicts how long a request will wait.
 */
package dev.kvasir.router.turn;
