/**
 * KV events between engines and routers, in the format of vLLM and SGLang over ZeroMQ.
 *
 * <pre>
 *   publish:   pool --> KvEventForwarder --> KvEventPublisher --> subscribers
 *                                              '-- ReplayBuffer: the last batches, on request
 *   listen:    socket --> EventDecoder --> KvEventSubscriber --> loop: EngineBlocks --> index
 *                                              '-- Replays: asks for what was missed
 * </pre>
 *
 * <p>Nothing that an engine sends is trusted: every count is checked before memory is taken ({@link
 * dev.kvasir.events.EventLimits}). A block that cannot be placed is left out and counted by its
 * reason ({@link dev.kvasir.events.DropReason}).
 */
package dev.kvasir.events;
