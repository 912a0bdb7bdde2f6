package dev.kvasir.gateway.journal;

import dev.kvasir.kv.name.BlockHash;
import java.util.List;

/**
 * Length of a prompt, and the names of its blocks.
 *
 * <p>Where its tokens are not known, four bytes of it stand for one: prompts that begin alike have
 * the same first names either way, which is all that routing needs. An image or another part that
 * is no text counts as a fixed number of tokens, however many bytes it has.
 */
public record PromptNames(int tokens, List<BlockHash> blocks) {
  /** Those of a prompt that nobody has looked at. */
  public static final PromptNames NONE = new PromptNames(1, List.of());

  public PromptNames {
    blocks = List.copyOf(blocks);
  }

  /** As long, but without names: a long prompt has some hundred kilobytes of them. */
  PromptNames length() {
    return new PromptNames(tokens, List.of());
  }

  /** Returns whether every full block has its name. */
  public boolean isWhole(int blockTokens) {
    return blocks.size() == tokens / blockTokens;
  }
}
