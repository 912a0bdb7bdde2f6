package dev.kvasir.offload;

/** Where a transfer stands; the last three are final. */
public enum TransferStatus {
  EVALUATING,
  QUEUED,
  TRANSFERRING,
  COMPLETE,
  CANCELLED,
  FAILED;

  public boolean isFinal() {
    return compareTo(COMPLETE) >= 0;
  }
}
