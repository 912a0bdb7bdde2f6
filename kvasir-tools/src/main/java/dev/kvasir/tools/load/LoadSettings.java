package dev.kvasir.tools.load;

import java.time.Duration;

/**
 * Settings for the load on a server.
 *
 * @param duration no request is sent that would come later
 * @param timeout time that an answer may take
 */
public record LoadSettings(
    OpenAiTarget target, Pacing pacing, Duration duration, Duration timeout, LoadTargets targets) {
  public LoadSettings {
    if (!duration.isPositive() || timeout.toMillis() < 1) {
      throw new IllegalArgumentException("a load of " + duration + " with a timeout of " + timeout);
    }
  }

  /** The same load with other times. */
  public LoadSettings pacedBy(Pacing others) {
    return new LoadSettings(target, others, duration, timeout, targets);
  }

  /** The same load of another model. */
  public LoadSettings withModel(String model) {
    return new LoadSettings(target.withModel(model), pacing, duration, timeout, targets);
  }
}
