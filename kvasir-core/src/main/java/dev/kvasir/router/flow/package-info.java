/**
 * The flow of requests through a fleet: key limits, admission, the queue, placement, the legs of an
 * attempt, retries, and which workers are ejected for failing.
 *
 * <p>{@link dev.kvasir.router.flow.RequestFlow} is one state machine on one loop. It decides; a
 * {@link dev.kvasir.router.flow.RequestDriver} for each request does what it orders and tells what
 * came of it. The gateway drives it over HTTP, the simulator in virtual time.
 *
 * <pre>
 *   driver --arrive, submit, prefilled, failed, firstToken, emitted, over--> RequestFlow
 *   driver <--accept, send(leg), cancel, refuse, closed--------------------- RequestFlow
 *                                                        KeyMeter, AdmissionPolicy, queue
 *                                                        Router (choose and book), WorkerTable
 * </pre>
 *
 * <p>{@link dev.kvasir.router.flow.Replicas} makes several gateways in front of the same workers
 * decide as one: each tells the others what it has booked, what was asked with each key, where
 * sessions are at home and whom it ejected.
 *
 * <p>Invariants: each request is closed once; nothing is sent for a request that is refused or
 * over; queue, key limits and ledger are empty when no request is under way.
 */
package dev.kvasir.router.flow;
