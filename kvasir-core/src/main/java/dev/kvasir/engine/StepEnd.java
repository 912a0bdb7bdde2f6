package dev.kvasir.engine;

import java.util.List;

/**
 * What a step brought about.
 *
 * @param prefilled sequences whose prompt is computed, so that they got a token
 * @param ended sequences that have all their tokens; they still hold their blocks
 */
public record StepEnd(List<Sequence> prefilled, List<Sequence> ended) {}
