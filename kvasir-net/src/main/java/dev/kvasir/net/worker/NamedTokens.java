package dev.kvasir.net.worker;

import dev.kvasir.kv.name.BlockHash;
import java.util.List;

/**
 * The tokens of a prompt, and the names of its first blocks.
 *
 * <p>An engine of this process takes both from the gateway, so that nothing is computed twice.
 */
@SuppressWarnings("ArrayRecordComponent")
public record NamedTokens(int[] tokens, List<BlockHash> names) {
  public NamedTokens {
    names = List.copyOf(names);
  }
}
