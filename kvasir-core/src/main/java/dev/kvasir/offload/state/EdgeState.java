package dev.kvasir.offload.state;

import dev.kvasir.offload.pipeline.OffloadPipeline;

/**
 * The pipeline between two tiers as the dashboard shows it.
 *
 * @param from the name of the upper tier
 * @param to the name of the lower tier
 */
public record EdgeState(
    String from, String to, OffloadPipeline.Load load, OffloadPipeline.Totals totals) {}
