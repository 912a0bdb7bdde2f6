/**
 * The workers of a fleet as the router's loop knows them: what each serves, whether it is healthy,
 * and what it was seen to be unable to do.
 *
 * <p>{@link dev.kvasir.router.worker.WorkerTable} turns reports of answers, failures and probes
 * into the availability that the router places by. It ejects a worker whose failed callers were
 * answered elsewhere, unless too few others would stay.
 */
package dev.kvasir.router.worker;
