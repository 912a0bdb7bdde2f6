/**
 * The workers of a gateway: how they are configured, the connections to them, and what they tell of
 * their health, load, models and KV events.
 *
 * <p>{@link dev.kvasir.gateway.worker.GatewayWorkers} belongs to the loop of the router;
 * connections belong to the loops of the network.
 */
package dev.kvasir.gateway.worker;
