package dev.kvasir.router;

/** Which part of a request an instance is there for. */
public enum Role {
  BOTH,
  PREFILL,
  DECODE;

  boolean prefillsForOthers() {
    return this != DECODE;
  }

  boolean decodes() {
    return this != PREFILL;
  }
}
