package dev.kvasir.router.view;

/** Which part of a request an instance is there for. */
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
