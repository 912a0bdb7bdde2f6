package dev.kvasir.cli.simulate;

import dev.kvasir.Nullable;
import java.nio.file.Path;

/**
 * Settings that apply only under {@code --compat blis}; times are in microseconds, as in BLIS.
 *
 * @param policyConfig admission, routing and scheduling as a file; null for none
 * @param goRngTable constants of Go's generator, to draw ties as BLIS does; null for another one
 * @param ties first or random
 * @param traceLevel taken and not used: everything is kept
 * @param counterfactualK taken and not used: choices are not weighed again
 * @param summarizeTrace yes to say how many requests each engine got
 */
public record BlisKeys(
    long snapshotRefreshInterval,
    long cacheSignalDelay,
    long admissionLatency,
    long routingLatency,
    @Nullable Path policyConfig,
    @Nullable Path goRngTable,
    String ties,
    String traceLevel,
    int counterfactualK,
    String summarizeTrace) {
  public static final BlisKeys DEFAULT =
      new BlisKeys(50_000, 50_000, 0, 0, null, null, "random", "", 0, "");

  public BlisKeys {
    if (!ties.equals("first") && !ties.equals("random")) {
      throw new IllegalArgumentException("ties " + ties + ", expected first or random");
    }
  }

  boolean isSummarized() {
    return summarizeTrace.equals("yes");
  }
}
