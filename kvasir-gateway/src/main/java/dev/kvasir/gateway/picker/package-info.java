/**
 * The router as an endpoint picker for Envoy: the same decisions as the gateway's, for a proxy that
 * somebody else runs.
 *
 * <pre>
 *   caller ---> Envoy ----------------------------------> worker
 *                 |  ^   headers, body | endpoint          ^ |
 *       ext_proc  v  |                                     | | answer passes Envoy,
 *               PickedRequest ---> RequestFlow, Router     | v a copy of it comes here
 * </pre>
 *
 * <p>{@code GrpcServer} and {@code GrpcStream} speak gRPC over HTTP/2, {@code Proto} and {@code
 * EnvoyMessages} the messages, {@code PickedRequest} is one request, from its head to its end.
 */
package dev.kvasir.gateway.picker;
