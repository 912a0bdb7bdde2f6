package dev.kvasir.gateway.dashboard;

import dev.kvasir.Records;
import dev.kvasir.router.view.Availability;
import dev.kvasir.router.view.Role;

/**
 * One instance as the dashboard shows it.
 *
 * @param waiting requests that wait there
 * @param running requests in its batch
 * @param prefillTokens tokens that wait to be computed
 * @param decodeStreams answers that are being written
 * @param kvBlocksUsed blocks of its own memory in use
 * @param requests answered since it started
 * @param hitRate share of prompt tokens it found cached, 0 to 1; NaN where there were none yet
 * @param tokensPerSecond written lately
 */
public record InstanceState(
    String name,
    String url,
    Role role,
    Availability availability,
    int waiting,
    int running,
    long prefillTokens,
    int decodeStreams,
    long kvBlocksUsed,
    long kvBlocksTotal,
    long requests,
    double hitRate,
    double tokensPerSecond) {
  public InstanceState {
    if (name.isBlank()) throw new IllegalArgumentException("an instance at " + url + ", no name");
    if (kvBlocksUsed < 0 || kvBlocksUsed > kvBlocksTotal) {
      throw new IllegalArgumentException(
          name + " uses " + kvBlocksUsed + " of " + kvBlocksTotal + " blocks");
    }
  }

  /** This one, without its address. */
  InstanceState withoutUrl() {
    return Records.with(this, "url", "");
  }
}
