package dev.kvasir.embedded.step;

import dev.kvasir.kv.CachedBlocks;

/**
 * Resources that an answer took.
 *
 * @param cachedTokens tokens of the prompt that needed no computing when it was first admitted
 * @param cached these tokens by where they were found, in blocks
 */
public record GenerationUsage(
    int promptTokens, int cachedTokens, CachedBlocks cached, int answerTokens, int preemptions) {}
