/**
 * HTTP servers with bounds on everything, on the event loops of one {@link dev.kvasir.net.Network}.
 *
 * <pre>
 *   connection --> FrontLoop --> Endpoints --> key --> body within bounds --> handler --> Exchange
 *                     |
 *              ConnectionWatch     HEAD --> BODY --> ANSWER --> IDLE --> HEAD ...
 *                                  each phase has a limit of time, after which it closes
 * </pre>
 *
 * <p>A request is refused as early as possible: by its head, before its body is read. Bytes of
 * bodies are counted until their request is over (INV-4). An exchange ends exactly once, and a
 * stream ends with {@code [DONE]}, an error event or a reset (INV-9).
 */
package dev.kvasir.net.server;
