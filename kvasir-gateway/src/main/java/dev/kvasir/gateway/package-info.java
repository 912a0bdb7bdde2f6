/**
 * The gateway in front of workers: its servers, its settings, its dashboard and its admin
 * interface.
 *
 * <pre>
 *   Gateway, CallerApi, AdminApi, GatewayView
 *        |
 *     request    one proxied request: read, name the prompt, send the legs, pass the answer on
 *        |
 *     journal    what is written down of a request: log, capture, traces, metrics
 *        |
 *     worker     the workers, the connections to them, and what they tell of themselves
 * </pre>
 *
 * <p>Each imports only from those below it. What becomes of a request is decided by {@link
 * dev.kvasir.router.flow.RequestFlow}, on the loop of the router.
 */
package dev.kvasir.gateway;
