package dev.kvasir.net.worker;

import dev.kvasir.router.view.EngineSignals;

/**
 * Report that a worker gives of itself; {@link EngineSignals#UNKNOWN} for what it does not tell.
 *
 * @param hitRate share of the tokens looked up that its own memory had
 * @param externalHitRate share of the tokens looked up elsewhere that were there
 * @param gpuUtilisation share of the time its GPUs compute
 * @param blockTokens number of tokens in multiples of which it finds tokens cached; 0 where it does
 *     not tell
 */
public record WorkerReport(
    EngineSignals signals,
    double hitRate,
    double externalHitRate,
    double gpuUtilisation,
    int blockTokens) {
  public static final WorkerReport NONE =
      new WorkerReport(
          EngineSignals.NONE,
          EngineSignals.UNKNOWN,
          EngineSignals.UNKNOWN,
          EngineSignals.UNKNOWN,
          0);
}
