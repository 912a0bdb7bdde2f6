/**
 * The bytes of the tiers in host memory: {@link dev.kvasir.tiers.host.HostMemory} holds the slots,
 * {@link dev.kvasir.tiers.host.HostStore} copies on worker threads and answers on the loop. The
 * packages below hold the disk and the tiers that several machines share.
 *
 * <p>A read returns the exact bytes stored under the full key, or a miss (INV-3). Queues are
 * bounded (INV-4), and a slow store never blocks the loop (INV-5).
 */
package dev.kvasir.tiers.host;
