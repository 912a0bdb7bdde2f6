package dev.kvasir.offload;

/** Adds up how transfers ended. */
final class PipelineCounters {
  private long completed;
  private long failed;
  private long evicted;
  private long filtered;
  private long cancelled;
  private long refused;

  void ended(TransferCounts counts) {
    completed += counts.completed();
    failed += counts.failed();
    evicted += counts.evicted();
    filtered += counts.filtered();
    cancelled += counts.cancelled();
  }

  void refused(int blocks) {
    refused += blocks;
  }

  PipelineTotals snapshot() {
    return new PipelineTotals(completed, failed, evicted, filtered, cancelled, refused);
  }
}
