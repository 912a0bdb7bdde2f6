package dev.kvasir.offload;

/** How many blocks of a transfer ended how, out of those submitted. */
public record TransferCounts(
    int submitted, int completed, int failed, int evicted, int filtered, int cancelled) {

  /** Blocks whose end is known. */
  public int settled() {
    return completed + failed + evicted + filtered + cancelled;
  }
}
