/**
 * The tier daemon: host memory, disk, Redis and S3 below the vLLM servers of a machine, and for
 * Redis clients.
 *
 * <pre>
 *   engine == shared rows ============== copies ==.
 *      \-- Unix socket: keys, row numbers --> TierSession --> NamespaceCache --> SharedTiers
 *                                              one each        one for each       host, disk,
 *                                              connection      namespace          Redis, S3
 * </pre>
 *
 * <p>A {@link dev.kvasir.tierd.TierServer} takes connections and has a virtual thread for each.
 * What the caches know belongs to one loop; bytes are copied by the threads of the stores. The
 * protocol is docs/tier-protocol.md.
 */
package dev.kvasir.tierd;
