package dev.kvasir.live.engine.step;

import dev.kvasir.kv.CachedBlocks;

/**
 * What an answer took.
 *
 * @param cachedTokens tokens of the prompt that needed no computing when it was first admitted
 * @param cached where these were found, in blocks
 */
public record GenerationUsage(
    int promptTokens, int cachedTokens, CachedBlocks cached, int answerTokens, int preemptions) {}
