package dev.kvasir.sim.trace;

import dev.kvasir.sim.workload.Content;

/** Makes contents of recorded block ids, and refuses ids that cannot be of that block size. */
record BlockIds(TraceLines lines) {
  /**
   * A content of these ids.
   *
   * <p>A prompt that does not end with a block may name its last piece, or not.
   *
   * @param tokensMax how many tokens could have been named
   */
  Content content(long[] ids, int tokensPerId, int promptTokens, int tokensMax, long own) {
    if (ids.length < promptTokens / tokensPerId
        || ids.length > Math.ceilDiv(tokensMax, tokensPerId)) {
      throw lines.error(
          "there are " + ids.length + " blocks for " + promptTokens + " tokens",
          "blocks of "
              + tokensPerId
              + " tokens make "
              + Math.ceilDiv(promptTokens, tokensPerId)
              + ": correct the line, or say how long a block is (--set simulation.id-tokens=N)");
    }
    if (ids.length == 0) return Content.unique(own);
    int named = (int) Math.min((long) ids.length * tokensPerId, tokensMax);
    return Content.ids(ids, tokensPerId, named, own);
  }
}
