package dev.kvasir.sim.latency;

import java.util.List;

/**
 * Work of one forward pass: its prefill pieces one by one, its decode rows in sums.
 *
 * <p>A decode row computes one token, so its number and the context before it are all that a model
 * of time asks of it; a steady decode step then costs the same for one row as for a thousand.
 *
 * @param prefills the pieces of prompts that this pass computes, at least one token each
 * @param decodes how many rows compute one token after their prompt
 * @param decodeContext the tokens whose KV exists before this pass, summed over the decode rows
 */
public record StepShape(List<Prefill> prefills, int decodes, long decodeContext) {
  public StepShape {
    prefills = List.copyOf(prefills);
    if (decodes < 0 || decodeContext < 0 || (decodes == 0 && decodeContext > 0)) {
      throw new IllegalArgumentException(
          "decodes " + decodes + " with " + decodeContext + " tokens before them");
    }
  }

  /** Returns how many requests take part. */
  public int requests() {
    return prefills.size() + decodes;
  }

  /** Returns how many prompt tokens are computed. */
  public long prefillTokens() {
    long tokens = 0;
    for (var prefill : prefills) tokens += prefill.tokens;
    return tokens;
  }

  /** For each prompt token that is computed, the tokens before it, all together. */
  public long prefillContext() {
    long context = 0;
    for (var prefill : prefills) {
      long tokens = prefill.tokens;
      context += tokens * prefill.computed + tokens * (tokens - 1) / 2;
    }
    return context;
  }

  /**
   * A piece of one prompt.
   *
   * @param tokens how many tokens this pass computes
   * @param computed the tokens whose KV exists before this pass
   * @param prompt the length of the whole prompt
   */
  public record Prefill(int tokens, int computed, int prompt) {
    public Prefill {
      if (tokens < 1 || computed < 0 || tokens > prompt - computed) {
        throw new IllegalArgumentException(
            tokens + " tokens after " + computed + " of a prompt of " + prompt);
      }
    }
  }
}
