/**
 * Several gateways in front of the same workers. Each reports to the others its bookings, the use
 * of each key, the workers of sessions and the workers that it ejected; {@link
 * dev.kvasir.router.replica.Replicas} is one member of such a group.
 */
package dev.kvasir.router.replica;
