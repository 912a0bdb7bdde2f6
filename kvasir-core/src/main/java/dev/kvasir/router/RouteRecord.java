package dev.kvasir.router;

import dev.kvasir.kv.CachedBlocks;
import dev.kvasir.router.placement.Prediction;

/**
 * The record of a route, from which its decision can be judged and replayed.
 *
 * @param routeClass WARM, MEDIUM, HEAVY_P2P or HEAVY_COLO
 * @param reason why it is placed so, as {@code PrefillPlacement.Reason} labels it
 * @param prefill the other instance that prefilled; -1 where there was none
 * @param uncachedTokens what was to compute on the instance that decoded
 * @param prefillTokens what was to compute on the other one; -1 where there was none
 * @param cached what the decoding instance held
 */
public record RouteRecord(
    long number,
    String routeClass,
    String reason,
    int decode,
    int prefill,
    int promptTokens,
    int uncachedTokens,
    int prefillTokens,
    CachedBlocks cached,
    Prediction predicted,
    long emittedTokens,
    RouteTimes times) {}
