/**
 * Several gateways in front of the same workers: what {@link dev.kvasir.router.replica.Replicas}
 * tells the others, over a channel of Redis or Valkey.
 *
 * <pre>
 *   Replicas --message--> ReplicaCodec (JSON, sealed) --> RedisChannel --> all gateways
 *   Replicas <--hear----- ReplicaCodec <----------------- RedisChannel <--'
 * </pre>
 */
package dev.kvasir.gateway.replica;
