package dev.kvasir.live.gateway;

import dev.kvasir.Nullable;

/**
 * Where a request was placed.
 *
 * @param decodeId of the worker, for the router
 * @param prefill the other worker; null where there is none
 * @param engine by which the other worker is asked for what it prefilled
 * @param routeClass and reason, as the router gives them
 */
record Placed(
    int decodeId,
    Worker decode,
    int prefillId,
    @Nullable Worker prefill,
    String engine,
    String routeClass,
    String reason,
    int cachedTokens,
    double colocateSeconds,
    double offloadSeconds) {}
