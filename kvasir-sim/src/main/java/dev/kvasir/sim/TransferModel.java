package dev.kvasir.sim;

/** How the time of transfers between tiers counts. */
public sealed interface TransferModel {
  /** Transfers go on beside the steps, and whoever waits for one lets others go first. */
  record Event() implements TransferModel {}

  /**
   * Transfers are instant, and their time is added to the step that needed them.
   *
   * @param threshold the share of memory in use above which cached blocks move to the host
   */
  record Step(double threshold) implements TransferModel {
    public Step {
      if (!(threshold >= 0 && threshold <= 1)) {
        throw new IllegalArgumentException("offloads above " + threshold + ", expected 0 to 1");
      }
    }
  }
}
