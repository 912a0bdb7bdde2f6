package dev.kvasir.offload.store;

import dev.kvasir.kv.name.TokenBlock;

/**
 * One block to copy between two neighbouring tiers.
 *
 * @param block what the block holds; its hash is the full key
 * @param above the slot on the faster tier
 * @param below the slot on the slower tier
 */
public record BlockCopy(TokenBlock block, int above, int below) {}
