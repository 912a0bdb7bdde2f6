package dev.kvasir.live.gateway;

import dev.kvasir.live.LiveLoop;
import java.util.concurrent.ThreadLocalRandom;

/** What every request on its way needs of the gateway. */
record GatewayParts(
    LiveLoop loop, Dispatch dispatch, Roster roster, Upstream upstream, FailureRules rules) {
  /** A number by which two workers find each other; nobody else may guess it by chance. */
  long randomRoom() {
    return ThreadLocalRandom.current().nextLong(Long.MAX_VALUE);
  }
}
