package dev.kvasir.cli.settings;

import dev.kvasir.live.gateway.worker.FailureRules;
import dev.kvasir.live.http.HttpLimits;
import dev.kvasir.router.flow.QueueLimits;

/** What is taken from callers, how many wait, and what happens when workers fail. */
public record LimitSettings(
    QueueLimits queue, HttpLimits http, FailureRules failures, AdmissionSettings admission) {
  public static final LimitSettings DEFAULT =
      new LimitSettings(
          QueueLimits.DEFAULT, HttpLimits.DEFAULT, FailureRules.DEFAULT, AdmissionSettings.DEFAULT);
}
