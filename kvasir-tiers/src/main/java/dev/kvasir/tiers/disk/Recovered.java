package dev.kvasir.tiers.disk;

import dev.kvasir.kv.name.TokenBlock;

/** A block that a disk store found in its folder when it was opened. */
public record Recovered(int slot, TokenBlock block) {}
