package dev.kvasir.router.view;

/** Parts of a request that an instance serves. */
public enum Role {
  BOTH,
  PREFILL,
  DECODE;

  boolean prefillsForOthers() {
    return this != DECODE;
  }

  public boolean decodes() {
    return this != PREFILL;
  }
}
