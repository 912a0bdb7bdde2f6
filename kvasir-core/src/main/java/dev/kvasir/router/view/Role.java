package dev.kvasir.router.view;

/** Which parts of a request an instance serves. */
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
