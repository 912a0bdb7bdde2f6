/**
 * The embedded engines: the scheduler of the core above the model of this process, alone or as a
 * group that shares its tiers, and the HTTP server in front of one.
 *
 * <pre>
 *   EngineServer, EnginePublisher      one engine by HTTP and ZeroMQ
 *        |
 *   EngineGroup, EmbeddedEngine        engines of this process, on one loop
 *        |              |
 *      step            tier            what a step computes; what the engines share
 * </pre>
 */
package dev.kvasir.live.engine;
