package dev.kvasir.gateway.dashboard;

import dev.kvasir.router.placement.PrefillPlacement.Reason;

/**
 * One route and what came of it, as the dashboard shows it; NaN stands for what is not known.
 *
 * @param timeMillis when it was decided, since 1970
 * @param tenant whose request it was; empty where no keys are set
 * @param request the request's id
 * @param routeClass WARM, MEDIUM, HEAVY_P2P or HEAVY_COLO
 * @param decode the instance that answers
 * @param prefill the other instance that prefilled; empty where there was none
 * @param cachedTokens of the prompt, where it decodes
 * @param colocateSeconds predicted until the first token, all in one place
 * @param offloadSeconds predicted until the first token, by way of another instance
 */
public record DecisionState(
    long timeMillis,
    String tenant,
    String request,
    String routeClass,
    Reason reason,
    String decode,
    String prefill,
    int promptTokens,
    int cachedTokens,
    double colocateSeconds,
    double offloadSeconds,
    double ttftSeconds,
    double totalSeconds) {
  public DecisionState {
    if (cachedTokens < 0 || cachedTokens > promptTokens) {
      throw new IllegalArgumentException(
          request + " has " + cachedTokens + " of " + promptTokens + " tokens cached");
    }
  }
}
