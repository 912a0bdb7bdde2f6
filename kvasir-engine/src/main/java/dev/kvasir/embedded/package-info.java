/**
 * The embedded engines: the scheduler of the core above the model of this process, alone or as a
 * group that shares its tiers; the gateway of this process calls them, others ask by HTTP.
 *
 * <pre>
 *   LocalEngine, LocalEvents      EngineServer, EnginePublisher
 *   the gateway of this process   one engine by HTTP and ZeroMQ
 *             \                      /
 *                     EngineApi                what an engine answers
 *                         |
 *   EngineGroup, EmbeddedEngine        engines of this process, on one loop
 *        |              |
 *      step            tier            what a step computes; what the engines share
 * </pre>
 */
package dev.kvasir.embedded;
