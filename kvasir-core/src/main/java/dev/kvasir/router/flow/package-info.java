/**
 * The path of a request through a fleet: key limits, admission, queueing, placement, the legs of an
 * attempt, retries, and ejection of failing workers.
 *
 * <p>{@link dev.kvasir.router.flow.RequestFlow} is one state machine on one loop. It decides. Each
 * request has a driver that executes the decisions and reports the results: over HTTP in the
 * gateway, in virtual time in the simulator. A report returns the next {@link
 * dev.kvasir.router.flow.Step}; {@link dev.kvasir.router.flow.RequestDriver} calls back who waited.
 *
 * <pre>
 *   driver --arrive, submit, prefilled, failed--> RequestFlow -- step --> driver
 *   driver --firstToken, emitted, over----------> RequestFlow
 *   driver <--resume(step), after a wait--------- RequestFlow
 *                                                   KeyMeter, AdmissionPolicy, queue
 *                                                   Router (choose and book), WorkerTable
 * </pre>
 *
 * <p>The workers and their health are in {@link dev.kvasir.router.worker}, keys and admission in
 * {@link dev.kvasir.router.limit}, several gateways side by side in {@link
 * dev.kvasir.router.replica}.
 *
 * <p>Invariants: each request is closed once; nothing is sent for a request that is refused or
 * over; queue, key limits and ledger are empty when no request is under way.
 */
package dev.kvasir.router.flow;
