/**
 * The simulator: the product's router, engines and tiers in virtual time.
 *
 * <pre>
 *   Workload --> Simulator --> SimGateway (Router, RequestFlow) --> SimulatedRequest
 *                                                                         |
 *                                   SimInstance (Engine, TieredKvCache) &lt;-'
 *                                       |              |
 *                                   TimedModel     TimedStore        only these two take time
 * </pre>
 *
 * <p>Everything else is the code that the server runs. The same seed and the same input give the
 * same bytes on any machine, requests are conserved, and time never runs backwards (INV-10).
 */
package dev.kvasir.sim;
