/**
 * Tells routers what a tier daemon holds, in the words of vLLM's KV events.
 *
 * <pre>
 *   daemon: pools --events--> TierFeed ==ZeroMQ==> TierFeedReader --> ChunkUnits --> index
 *   worker: KV events with tokens -------------------------------------^
 * </pre>
 *
 * <p>Chunks are told by the engines' own hashes; which tokens those stand for the router learns
 * from the workers.
 */
package dev.kvasir.tierd.feed;
