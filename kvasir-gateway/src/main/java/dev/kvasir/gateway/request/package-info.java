/**
 * One proxied request, from its body to the last byte of its answer.
 *
 * <p>{@link dev.kvasir.gateway.request.RequestReader} reads it and has its prompt named; {@link
 * dev.kvasir.gateway.request.FlowConnection} crosses to the loop of the router and back, for the
 * gateway and the picker; {@link dev.kvasir.gateway.request.ProxiedRequest} sends the legs that the
 * flow decides on, over HTTP; {@link dev.kvasir.gateway.request.AnswerPipe} passes the answer on
 * byte for byte. An answer ends with its last byte, an error event or a reset, never cut off in
 * silence; the flow learns of the end once.
 */
package dev.kvasir.gateway.request;
